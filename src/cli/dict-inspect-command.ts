import type { DictionaryInspection } from '../report/dictionary-inspection.js';
import type { Command, RawOptions } from './command.js';
import { flagOption, repositoryArgument, wholeNumber } from './command.js';
import { EXIT } from './exit-status.js';
import { sayResult } from './output.js';

/** `revconvert dict inspect`: one dictionary. */
export const dictInspectCommand: Command = {
  usage:
    '$0 dict inspect [options] <file> | <repository> <ID>\n\nSays what can be said of one dictionary, in a file or in a store: its ID, its size, whether zstd takes it, and what is at its end, where what is used most is.',
  options: {
    json: { type: 'boolean', describe: 'Print the result, or the error, as JSON on standard output' },
  },
  positionals: { most: 2, message: 'only a file, or a repository and an ID, are expected' },
  examples: [['$0 dict inspect changelog.zdict', 'a file'], ['$0 dict inspect src 2', 'dictionary 2 of a store']],
  exitStatus: '0 done; 2 wrong command line, or no dictionary; 3 it is damaged, or the repository is; 4 the system failed; 70 a bug; 130 interrupted.',
  run: runInspect,
};

async function runInspect([first, id]: readonly string[], raw: RawOptions): Promise<number> {
  const inspection = await inspect(repositoryArgument(first, 'dictionary'), id);
  if (flagOption(raw, 'json') === true) {
    sayResult(JSON.stringify(inspection));
  } else {
    const { renderInspection } = await import('./render-dict.js');
    sayResult(renderInspection(inspection));
  }
  return EXIT.done;
}

async function inspect(first: string, id: string | undefined): Promise<DictionaryInspection> {
  const { inspectDictionary, inspectStoredDictionary } = await import('../report/dictionary-inspection.js');
  return id === undefined ? inspectDictionary(first) : inspectStoredDictionary(first, wholeNumber(id, 'the ID of a dictionary'));
}
