import { describeError } from '../errors.js';
import type { Command, RawOptions } from './command.js';
import { flagOption, repositoryArgument } from './command.js';
import { EXIT } from './exit-status.js';
import { say, sayResult } from './output.js';

/** `revconvert dict list`: the dictionaries of a store, and who uses them. */
export const dictListCommand: Command = {
  usage:
    '$0 dict list [options] <repository>\n\nSays which zstd dictionaries a store has: what each is for, its size, how many chunks need it. ' +
    'Reads without a lock, and writes nothing.',
  options: {
    json: { type: 'boolean', describe: 'Print the list, or the error, as JSON on standard output' },
  },
  positionals: { most: 1, message: 'only a repository is expected' },
  examples: [['$0 dict list src', 'a table'], ['$0 dict list --json src', 'the same for scripts, with the SHA-256 of each']],
  exitStatus: '0 done; 2 wrong command line; 3 a dictionary is missing or damaged, or a revlog is; 4 the system failed; 70 a bug; 130 interrupted.',
  run: (positionals, options, signal) => runList(repositoryArgument(positionals[0]), options, signal),
};

async function runList(repository: string, raw: RawOptions, signal: AbortSignal): Promise<number> {
  const { listDictionaries } = await import('../report/dictionary-usage.js');
  const report = await listDictionaries(repository, { signal });
  const { dictionaries, unlisted, errors } = report;
  const faults = dictionaries.flatMap(({ error }) => error ?? []);
  if (flagOption(raw, 'json') === true) {
    sayResult(JSON.stringify(report));
  } else {
    const { renderDictionaries } = await import('./render-dict.js');
    sayResult(renderDictionaries(report));
    for (const fault of [...faults, ...errors]) say(`revconvert: ${fault.code}: ${describeError(fault)}`);
    for (const { id } of unlisted) say(`revconvert: DICTIONARY_MISSING: chunks name dictionary ${id}, which the store does not list`);
    for (const hint of new Set(faults.map((fault) => fault.hint))) say(`hint: ${hint}`);
    if (errors.length > 0) say('hint: the chunks of these revlogs are not counted; run `revconvert verify` on the repository');
  }
  return faults.length + unlisted.length + errors.length > 0 ? EXIT.input : EXIT.done;
}
