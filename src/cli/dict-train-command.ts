import { RevconvertError } from '../errors.js';
import type { Command, RawOptions } from './command.js';
import { flagOption, numberOption, repositoryArgument } from './command.js';
import { CONVERT_OPTIONS } from './convert-options.js';
import { EXIT } from './exit-status.js';
import { sayResult } from './output.js';

/** `revconvert dict train`: dictionaries as files. */
export const dictTrainCommand: Command = {
  usage:
    '$0 dict train [options] <repository> <folder>\n\nTrains dictionaries on the chunks of a repository, as --dict auto does, and writes them into a folder that does not exist, or is empty: ' +
    'changelog.zdict, manifest.zdict, filelog.zdict, and filelog.py.zdict for files *.py. Needs the program zstd. Reads the repository without a lock, and writes nothing into it.',
  options: {
    'dict-size': CONVERT_OPTIONS['dict-size'],
    'dict-samples': CONVERT_OPTIONS['dict-samples'],
    level: { type: 'string', requiresArg: true, describe: 'Level of zstd that the gain is estimated with [default: 3]' },
    jobs: { type: 'string', requiresArg: true, describe: 'Programs that train at a time [default: the cores]; the dictionaries do not depend on it' },
    json: { type: 'boolean', describe: 'Print the result, or the error, as JSON on standard output' },
  },
  positionals: { most: 2, message: 'only a repository and a folder are expected' },
  examples: [
    ['$0 dict train src dictionaries', 'a dictionary for each kind of revlog that is worth one'],
    ['$0 dict train --dict-size 112640 src dictionaries', 'of 110 KiB each, the size that zstd --train makes'],
  ],
  exitStatus: '0 done; 1 nothing is worth a dictionary, and nothing was written; 2 wrong command line, or no program zstd; 3 damaged or unsupported source; 4 the system failed; 70 a bug; 130 interrupted.',
  run: runTrain,
};

async function runTrain([source, folder]: readonly string[], raw: RawOptions, signal: AbortSignal): Promise<number> {
  const repository = repositoryArgument(source);
  if (folder === undefined || folder === '') throw new RevconvertError('USAGE', 'the folder for the dictionaries is missing');
  const options = {
    dictionarySize: numberOption(raw, 'dict-size'),
    dictionarySamples: numberOption(raw, 'dict-samples'),
    level: numberOption(raw, 'level'),
    jobs: numberOption(raw, 'jobs'),
    signal,
  };
  const { trainDictionaries } = await import('../repository/dictionaries/train-folder.js');
  const report = await trainDictionaries(repository, folder, options);
  if (flagOption(raw, 'json') === true) {
    sayResult(JSON.stringify(report));
  } else {
    const { renderTrained } = await import('./render-dict.js');
    sayResult(renderTrained(report));
  }
  return report.trained.length === 0 ? EXIT.warnings : EXIT.done;
}
