import { bundleCommand } from './bundle-command.js';
import type { Command, NamedCommand } from './command.js';
import { convertCommand } from './convert-command.js';
import { DICT_VERBS, dictCommand } from './dict-command.js';
import { perfCommand } from './perf-command.js';
import { statsCommand } from './stats-command.js';
import { verifyCommand } from './verify-command.js';

const NAMED: readonly NamedCommand[] = [
  { name: 'stats', args: '<repository>', summary: 'say what a store is made of', command: statsCommand },
  { name: 'perf', args: '<repository>', summary: 'measure how fast a store is read', command: perfCommand },
  { name: 'verify', args: '<repository>', summary: 'check every revision, and what they say of each other', command: verifyCommand },
  { name: 'bundle', args: '[in] [out]', summary: 'make bundles of one kind another, of repositories, or repositories of them', command: bundleCommand },
  { name: 'dict', args: '<command>', summary: 'train, list and measure zstd dictionaries', command: dictCommand },
];

/** Commands that have commands of their own. */
const FAMILIES: ReadonlyMap<string, readonly NamedCommand[]> = new Map([['dict', DICT_VERBS]]);

/** The command that a command line means, and what is left of the line. A repository of that name is given as `./name`. */
export function findCommand(argv: readonly string[]): { readonly command: Command; readonly rest: readonly string[]; readonly isDefault: boolean } {
  const [first = '', ...rest] = argv;
  const named = NAMED.find(({ name }) => name === first);
  if (named === undefined) return { command: convertCommand, rest: argv, isDefault: true };
  const verb = FAMILIES.get(first)?.find(({ name }) => name === rest[0]);
  if (verb !== undefined) return { command: verb.command, rest: rest.slice(1), isDefault: false };
  return { command: named.command, rest, isDefault: false };
}

/** What the command line of the command begins with that a command line means. */
export function nameOfCommand(argv: readonly string[]): string {
  const [first = '', second = ''] = argv;
  if (!NAMED.some(({ name }) => name === first)) return 'revconvert';
  return FAMILIES.get(first)?.some(({ name }) => name === second) === true ? `revconvert ${first} ${second}` : `revconvert ${first}`;
}

/** The commands that have a name, for the help. */
export const listCommands = (): string => ['Commands (each has --help):', ...NAMED.map(({ name, args, summary }) => `  revconvert ${name.padEnd(6)} ${args.padEnd(12)}  ${summary}`)].join('\n');
