import { RevconvertError } from '../errors.js';
import type { Command, RawOptions } from './command.js';
import { flagOption, repositoryArgument, wholeNumber } from './command.js';
import { EXIT } from './exit-status.js';
import { sayResult } from './output.js';

/** All that a store may have. */
const MOST_DICTIONARIES = 255;

/** `revconvert dict export`: the dictionaries of a store as files. */
export const dictExportCommand: Command = {
  usage:
    '$0 dict export [options] <repository> <folder> [ID...]\n\nWrites the dictionaries of a store, or those with these IDs, into a folder that does not exist, or is empty: 1.zdict, and so on. ' +
    'Reads the repository without a lock, and writes nothing into it.',
  options: {
    json: { type: 'boolean', describe: 'Print the result, or the error, as JSON on standard output' },
  },
  positionals: { most: 2 + MOST_DICTIONARIES, message: 'more IDs than a store can have' },
  examples: [['$0 dict export src dictionaries', 'all'], ['$0 dict export src dictionaries 2 5', 'two of them']],
  exitStatus: '0 done; 2 wrong command line, or no such dictionary; 3 damaged or unsupported source; 4 the system failed; 70 a bug; 130 interrupted.',
  run: runExport,
};

async function runExport([source, folder, ...ids]: readonly string[], raw: RawOptions, signal: AbortSignal): Promise<number> {
  const repository = repositoryArgument(source);
  if (folder === undefined || folder === '') throw new RevconvertError('USAGE', 'the folder for the dictionaries is missing');
  const options = { ids: ids.length === 0 ? undefined : ids.map((id) => wholeNumber(id, 'the ID of a dictionary')), signal };
  const { exportDictionaries } = await import('../repository/dictionaries/export.js');
  const report = await exportDictionaries(repository, folder, options);
  if (flagOption(raw, 'json') === true) {
    sayResult(JSON.stringify(report));
  } else {
    const { renderExported } = await import('./render-dict.js');
    sayResult(renderExported(report));
  }
  return EXIT.done;
}
