import { RevconvertError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import type { EvaluationOptions } from '../report/evaluation-options.js';
import type { Command, RawOptions } from './command.js';
import { flagOption, repositoryArgument, textOption, wholeNumber } from './command.js';
import { EXIT } from './exit-status.js';
import { sayResult } from './output.js';

const BYTES_IN_KIB = 1024;

/** `revconvert dict evaluate`: what dictionaries would do. */
export const dictEvaluateCommand: Command = {
  usage:
    '$0 dict evaluate [options] <repository>\n\nSays what zstd dictionaries of some sizes would do for each kind of revlog at some levels: bytes, throughput, and after how many chunks a dictionary has paid for itself. ' +
    'Trains them, and measures chunks that are spread over the store. Needs the program zstd. Takes a quarter to half a minute with one idle core; reads without a lock, and writes nothing.',
  options: {
    sizes: { type: 'string', requiresArg: true, describe: 'Sizes of the dictionaries in KiB (of 1,024 bytes) [default: 16,32,64,112,256]' },
    levels: { type: 'string', requiresArg: true, describe: 'Levels of zstd [default: 1,3,9,19]' },
    kind: { type: 'string', requiresArg: true, choices: [...REVLOG_KINDS], describe: 'Only this kind of revlog' },
    json: { type: 'boolean', describe: 'Print everything, or the error, as JSON on standard output' },
  },
  positionals: { most: 1, message: 'only a repository is expected' },
  examples: [
    ['$0 dict evaluate src', 'a table for each kind'],
    ['$0 dict evaluate --kind manifest --sizes 64,512 --levels 3 src', 'two sizes, at one level'],
  ],
  exitStatus: '0 done; 2 wrong command line, or no program zstd; 3 damaged or unsupported source; 4 the system failed; 70 a bug; 130 interrupted.',
  run: (positionals, options, signal) => runEvaluate(repositoryArgument(positionals[0]), options, signal),
};

async function runEvaluate(repository: string, raw: RawOptions, signal: AbortSignal): Promise<number> {
  const options: EvaluationOptions = {
    sizes: numberList(raw, 'sizes')?.map((kib) => kib * BYTES_IN_KIB),
    levels: numberList(raw, 'levels'),
    kind: textOption(raw, 'kind') as RevlogKind | undefined,
    signal,
  };
  const { evaluateDictionaries } = await import('../report/dictionary-evaluation.js');
  const report = await evaluateDictionaries(repository, options);
  if (flagOption(raw, 'json') === true) {
    sayResult(JSON.stringify(report));
  } else {
    const { renderEvaluation } = await import('./render-evaluation.js');
    sayResult(renderEvaluation(report));
  }
  return EXIT.done;
}

/** @throws RevconvertError USAGE */
function numberList(raw: RawOptions, name: string): number[] | undefined {
  const text = textOption(raw, name);
  if (text === undefined) return undefined;
  if (text === '') throw new RevconvertError('USAGE', `--${name}: numbers are expected, with commas between them`);
  return text.split(',').map((one) => wholeNumber(one.trim(), `--${name}: a whole number`));
}
