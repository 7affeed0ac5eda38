import yargs from 'yargs';

import { RevconvertError, toRevconvertError } from '../errors.js';
import type { RawArguments } from './arguments.js';
import { OPTIONS, readArguments } from './arguments.js';
import { EXIT } from './exit-status.js';
import { sayError, sayResult, watchOutput } from './output.js';
import { VERSION } from './version.js';

const HELP_WIDTH = 100;

const EXAMPLES: readonly (readonly [command: string, what: string])[] = [
  ['$0 --to zstd src dst', 'convert to zstd at its default level'],
  ['$0 --to zstd --level 19 src dst', 'small'],
  ['$0 --to zlib src dst', 'back to zlib'],
  ['$0 --to zstd --dry-run src', 'say what would be done'],
  ['$0 --to zstd --json src dst', 'the result as JSON, for scripts'],
];

/** Whatever yargs finds wrong is wrong with the command line. */
const fail = (message: string | undefined, error: Error | undefined): never => {
  throw new RevconvertError('USAGE', (message ?? error?.message ?? 'wrong arguments').replace(/\s*\n\s*/g, ' ').replace(/^Unknown arguments?: /, 'unknown option: --'));
};

function createParser(argv: readonly string[]): ReturnType<typeof yargs> {
  const parser = yargs([...argv])
    .scriptName('revconvert')
    .usage('$0 [options] <src> <dst>\n\nWrites the Mercurial repository <src> anew as <dst>, with the same history, stored differently.')
    .options(OPTIONS)
    .parserConfiguration({ 'boolean-negation': false, 'camel-case-expansion': false, 'duplicate-arguments-array': false, 'parse-positional-numbers': false })
    .demandCommand(0, 2, undefined, 'only a source and a destination are expected')
    .strictOptions()
    .epilogue('Exit status: 0 done; 1 done, with damage to report; 2 wrong command line; 3 damaged or unsupported source; 4 the system failed; 70 a bug; 130 interrupted.')
    .locale('en')
    .wrap(HELP_WIDTH)
    .exitProcess(false)
    .fail(fail);
  for (const [command, what] of EXAMPLES) parser.example(command, what);
  return parser;
}

/** Aborts at the first signal, and waits for what is half made to be removed. */
function abortOnSignals(): { readonly signal: AbortSignal; readonly restore: () => void } {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, stop);
  return {
    signal: controller.signal,
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
  const { signal, restore } = abortOnSignals();
  try {
    const parser = createParser(argv).help(false).version(false).option('help', { alias: 'h', type: 'boolean', describe: 'Show this help' }).option('version', { alias: 'V', type: 'boolean', describe: 'Show the version' });
    const parsed = await parser.parseAsync();
    if (parsed.help === true) {
      sayResult(await parser.getHelp());
      return EXIT.done;
    }
    if (parsed.version === true) {
      sayResult(VERSION);
      return EXIT.done;
    }
    const [src, dst] = parsed._.map(String);
    const args = readArguments({ ...(parsed as RawArguments), src, dst });
    const { runConvert } = await import('./convert-command.js');
    return await runConvert(args, signal);
  } catch (error) {
    const failure = toRevconvertError(error);
    sayError(failure, json);
    return EXIT[failure.kind];
  } finally {
    restore();
  }
}
