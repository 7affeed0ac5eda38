import type { Command } from './command.js';
import { convertCommand } from './convert-command.js';
import { perfCommand } from './perf-command.js';
import { statsCommand } from './stats-command.js';
import { verifyCommand } from './verify-command.js';

/** A command that is asked for by its name, as the first argument. */
interface NamedCommand {
  readonly name: string;
  /** For the help of the whole. */
  readonly summary: string;
  readonly command: Command;
}

const NAMED: readonly NamedCommand[] = [
  { name: 'stats', summary: 'say what a store is made of', command: statsCommand },
  { name: 'perf', summary: 'measure how fast a store is read', command: perfCommand },
  { name: 'verify', summary: 'check every revision, and what they say of each other', command: verifyCommand },
];

/** The command that a command line means, and what is left of the line. A repository of that name is given as `./name`. */
export function findCommand(argv: readonly string[]): { readonly command: Command; readonly rest: readonly string[]; readonly isDefault: boolean } {
  const named = NAMED.find(({ name }) => name === argv[0]);
  if (named === undefined) return { command: convertCommand, rest: argv, isDefault: true };
  return { command: named.command, rest: argv.slice(1), isDefault: false };
}

/** The commands that have a name, for the help. */
export const listCommands = (): string => ['Commands (each has --help):', ...NAMED.map(({ name, summary }) => `  revconvert ${name.padEnd(6)} <repository>  ${summary}`)].join('\n');
