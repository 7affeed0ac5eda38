import yargs from 'yargs';

import { RevconvertError, toRevconvertError } from '../errors.js';
import type { Command } from './command.js';
import { findCommand, listCommands, nameOfCommand } from './commands.js';
import { EXIT } from './exit-status.js';
import { sayError, sayResult, watchOutput } from './output.js';
import { watchStrays } from './strays.js';
import { VERSION } from './version.js';

const HELP_WIDTH = 100;

/** Whatever yargs finds wrong is wrong with the command line. */
const fail = (message: string | undefined, error: Error | undefined): never => {
  const line = (message ?? error?.message ?? 'wrong arguments').replace(/\s*\n\s*/g, ' ').trim();
  throw new RevconvertError('USAGE', REWORDED.reduce((text, [pattern, words]) => text.replace(pattern, words), line));
};

/** What yargs says, and what is said in its place. */
const REWORDED: readonly (readonly [RegExp, string])[] = [
  [/^Unknown arguments?: /, 'unknown option: --'],
  [/^Not enough arguments following: (\S+)$/, '--$1: a value is expected'],
  [/^Invalid values: Argument: (\S+), Given: "(.*?)", Choices: (.*)$/, '--$1: one of $3 is expected, found "$2"'],
];

const EXIT_STATUS =
  '0 done; 1 done, with damage to report; 2 wrong command line; 3 damaged or unsupported source; 4 the system failed; 70 a bug; 130 interrupted.';

function createParser(command: Command, argv: readonly string[], usage: string): ReturnType<typeof yargs> {
  const parser = yargs([...argv])
    .scriptName('revconvert')
    .usage(usage)
    .options(command.options)
    .parserConfiguration({ 'boolean-negation': false, 'camel-case-expansion': false, 'parse-positional-numbers': false })
    .middleware((options) => keepLast(options, command), true)
    .demandCommand(0, command.positionals.most, undefined, command.positionals.message)
    .strictOptions()
    .epilogue(`Exit status: ${command.exitStatus ?? EXIT_STATUS}`)
    .locale('en')
    .wrap(Math.min(HELP_WIDTH, process.stdout.isTTY ? process.stdout.columns : HELP_WIDTH))
    .exitProcess(false)
    .fail(fail);
  for (const [line, what] of command.examples) parser.example(line, what);
  return parser;
}

/** Of an option that is given more than once the last counts. */
function keepLast(found: Record<string, unknown>, { options, repeatable = [] }: Command): void {
  for (const name of Object.keys(options)) {
    const value = found[name];
    if (Array.isArray(value) && !repeatable.includes(name)) found[name] = value.at(-1);
  }
}

/** Aborts at the first signal, and waits for what is half made to be removed. */
function abortOnSignals(): { readonly signal: AbortSignal; readonly stop: () => void; readonly restore: () => void } {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, stop);
  return {
    signal: controller.signal,
    stop,
    restore: () => {
      for (const name of signals) process.off(name, stop);
    },
  };
}

/**
 * The command.
 * @param argv without the interpreter and the script
 * @returns the exit status
 */
export async function main(argv: readonly string[]): Promise<number> {
  const json = argv.includes('--json');
  watchOutput();
  const { signal, stop, restore } = abortOnSignals();
  const strays = watchStrays(argv, stop);
  try {
    const { command, rest, isDefault } = findCommand(argv);
    const usage = isDefault ? `${command.usage}\n\n${listCommands()}` : command.usage;
    const parser = createParser(command, rest, usage).help(false).version(false).option('help', { alias: 'h', type: 'boolean', describe: 'Show this help' }).option('version', { alias: 'V', type: 'boolean', describe: 'Show the version' });
    const parsed = await parser.parseAsync();
    if (parsed.help === true) {
      sayResult(await parser.getHelp());
      return EXIT.done;
    }
    if (parsed.version === true) {
      sayResult(VERSION);
      return EXIT.done;
    }
    const status = await command.run(parsed._.map(String), parsed, signal, rest);
    const stray = strays.failure();
    if (stray !== undefined) throw stray;
    return status;
  } catch (error) {
    const failure = strays.failure() ?? toRevconvertError(error);
    sayError(failure, json, nameOfCommand(argv));
    return EXIT[failure.kind];
  } finally {
    strays.done();
    restore();
  }
}
