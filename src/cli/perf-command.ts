import type { Options } from 'yargs';

import type { PerfOptions } from '../report/perf-options.js';
import type { Command, RawOptions } from './command.js';
import { flagOption, numberOption, repositoryArgument, textOption } from './command.js';
import { EXIT } from './exit-status.js';
import { say, sayResult } from './output.js';

const PERF_OPTIONS = {
  'changelog': { alias: 'c', type: 'boolean', describe: 'Measure the changelog' },
  'manifest': { alias: 'm', type: 'boolean', describe: 'Measure the manifest' },
  'file': { type: 'string', requiresArg: true, describe: 'Measure the revlog of a tracked file, or that of this name in the store' },
  'against': { type: 'string', requiresArg: true, describe: 'Another repository with the same history: measure both, in turns' },
  'every': { type: 'string', requiresArg: true, describe: 'Resolve the text of every N-th revision only [default: 1]' },
  'check-nodes': { type: 'boolean', describe: 'Hash each text and compare it with its node, as Mercurial does when it reads one' },
  'runs': { type: 'string', requiresArg: true, describe: 'The most timed runs of each benchmark, 3 or more [default: 10]' },
  'seconds': { type: 'string', requiresArg: true, describe: 'Begin no further run of a benchmark after as many seconds [default: 10]' },
  'json': { type: 'boolean', describe: 'Print all samples, or the error, as JSON on standard output' },
} as const satisfies Readonly<Record<string, Options>>;

/** `revconvert perf`: how fast a store is read. */
export const perfCommand: Command = {
  usage:
    '$0 perf [options] <repository>\n\nMeasures how fast a store is read: indexes, chunks, texts. Reads only, and takes no lock. ' +
    'Without -c, -m and --file: the changelog, the manifest and the largest filelog.',
  options: PERF_OPTIONS,
  positionals: { most: 1, message: 'only one repository is expected; --against names another' },
  examples: [
    ['$0 perf src', 'changelog, manifest, largest filelog'],
    ['$0 perf -m --every 1000 src', 'every 1,000th text of a large manifest'],
    ['$0 perf -m --against converted src', 'two stores side by side'],
  ],
  run: runPerf,
};

async function runPerf([repository]: readonly string[], raw: RawOptions, signal: AbortSignal): Promise<number> {
  const first = repositoryArgument(repository);
  const against = textOption(raw, 'against');
  const repositories = against === undefined ? [first] : [first, repositoryArgument(against, 'other repository')];
  const isJson = flagOption(raw, 'json') ?? false;
  const options = { ...readPerfOptions(raw), signal, ...(isJson || !process.stderr.isTTY ? {} : { onBenchmark: announce }) };
  const { measureStores } = await import('../report/perf.js');
  const report = await measureStores(repositories, options);
  if (isJson) {
    sayResult(JSON.stringify(report));
  } else {
    const { renderPerf } = await import('./render-perf.js');
    sayResult(renderPerf(report));
  }
  return EXIT.done;
}

/** @throws RevconvertError USAGE */
const readPerfOptions = (raw: RawOptions): PerfOptions => ({
  changelog: flagOption(raw, 'changelog'),
  manifest: flagOption(raw, 'manifest'),
  file: textOption(raw, 'file'),
  every: numberOption(raw, 'every'),
  checkNodes: flagOption(raw, 'check-nodes'),
  runs: numberOption(raw, 'runs'),
  seconds: numberOption(raw, 'seconds'),
});

/** It may take minutes: a person at a terminal is told where it is. */
const announce = (path: string, benchmark: string): void => say(`revconvert: ${path}: ${benchmark}`);
