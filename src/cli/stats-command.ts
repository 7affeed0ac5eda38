import { describeError, RevconvertError } from '../errors.js';
import type { RevlogChoice, StatsOptions } from '../report/store-stats.js';
import type { Command, RawOptions } from './command.js';
import { flagOption, numberOption, repositoryArgument, textOption } from './command.js';
import { EXIT } from './exit-status.js';
import { say, sayResult } from './output.js';

/** `revconvert stats`: what a store is made of. */
export const statsCommand: Command = {
  usage:
    '$0 stats [options] <repository>\n\nSays what the store of a Mercurial repository is made of: full texts, deltas and snapshots, chains of deltas, sizes, ' +
    'compression. Reads without a lock, and writes nothing.',
  options: {
    detail: { type: 'boolean', describe: 'Every figure: of the whole store, of each kind of revlog, and of the largest revlogs' },
    top: { type: 'string', requiresArg: true, describe: 'How many of the largest revlogs to list [default: 5]' },
    changelog: { type: 'boolean', alias: 'c', describe: 'Only the changelog, in detail' },
    manifest: { type: 'boolean', alias: 'm', describe: 'Only the manifest, in detail' },
    file: { type: 'string', requiresArg: true, describe: 'Only the revlog of a file, by its name from the root of the repository, in detail' },
    json: { type: 'boolean', describe: 'Print everything, or the error, as JSON on standard output' },
  },
  positionals: { most: 1, message: 'only a repository is expected' },
  examples: [
    ['$0 stats src', 'a table, the compression of the chunks, and the largest revlogs'],
    ['$0 stats --file src/main.c src', 'all about one file'],
    ['$0 stats --json src', 'everything as JSON, for scripts'],
  ],
  run: (positionals, options, signal) => runStats(repositoryArgument(positionals[0]), options, signal),
};

async function runStats(repository: string, raw: RawOptions, signal: AbortSignal): Promise<number> {
  const only = readChoice(raw);
  const options: StatsOptions = { only, top: numberOption(raw, 'top'), signal };
  const { collectStats } = await import('../report/store-stats.js');
  const stats = await collectStats(repository, options);
  if (flagOption(raw, 'json') === true) {
    sayResult(JSON.stringify(stats));
  } else {
    const { renderDetail, renderOne, renderOverview } = await import('./render-stats.js');
    if (only !== undefined) sayResult(renderOne(stats));
    else sayResult(flagOption(raw, 'detail') === true ? `${renderOverview(stats)}\n\n${renderDetail(stats)}` : renderOverview(stats));
    for (const error of stats.errors) say(`revconvert: ${error.code}: ${describeError(error)}`);
    if (stats.errors.length > 0) say('hint: these revlogs are in none of the figures; run `revconvert verify` on the repository');
  }
  return stats.errors.length > 0 ? EXIT.input : EXIT.done;
}

/** @throws RevconvertError USAGE where more than one revlog is asked for */
function readChoice(raw: RawOptions): RevlogChoice | undefined {
  const file = textOption(raw, 'file');
  const choices: RevlogChoice[] = [];
  if (flagOption(raw, 'changelog') === true) choices.push('changelog');
  if (flagOption(raw, 'manifest') === true) choices.push('manifest');
  if (file !== undefined) choices.push({ file });
  if (choices.length > 1) throw new RevconvertError('USAGE', 'only one of --changelog, --manifest and --file can be given');
  return choices[0];
}
