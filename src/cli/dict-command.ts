import { RevconvertError } from '../errors.js';
import type { Command, NamedCommand } from './command.js';
import { dictEvaluateCommand } from './dict-evaluate-command.js';
import { dictExportCommand } from './dict-export-command.js';
import { dictInspectCommand } from './dict-inspect-command.js';
import { dictListCommand } from './dict-list-command.js';
import { dictTrainCommand } from './dict-train-command.js';

/** What can be done with dictionaries. */
export const DICT_VERBS: readonly NamedCommand[] = [
  { name: 'train', args: '<repository> <folder>', summary: 'train them, and write them into a folder', command: dictTrainCommand },
  { name: 'list', args: '<repository>', summary: 'say which a store has, and who uses them', command: dictListCommand },
  { name: 'inspect', args: '<file>', summary: 'look at one; <repository> <ID>: at one of a store', command: dictInspectCommand },
  { name: 'export', args: '<repository> <folder>', summary: 'write those of a store into a folder', command: dictExportCommand },
  { name: 'evaluate', args: '<repository>', summary: 'measure what some would do: bytes, speed, when they pay', command: dictEvaluateCommand },
];

const EXPECTED = `one of ${DICT_VERBS.map(({ name }) => name).join(', ')} is expected after dict`;

/** `revconvert dict` without a word that says what to do: help only. */
export const dictCommand: Command = {
  usage: [
    '$0 dict <command> [options] ...',
    '',
    'zstd dictionaries of a store: chunks that are compressed with one are smaller. A conversion with --dict makes and uses them.',
    '',
    'Commands (each has --help):',
    ...DICT_VERBS.map(({ name, args, summary }) => `  revconvert dict ${name.padEnd(8)} ${args.padEnd(21)}  ${summary}`),
  ].join('\n'),
  options: {},
  positionals: { most: 0, message: EXPECTED },
  examples: [],
  run: () => {
    throw new RevconvertError('USAGE', EXPECTED);
  },
};
