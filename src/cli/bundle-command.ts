import { openInput, readAll } from '../bundles/input.js';
import { writeToFile, writeToStream } from '../bundles/output-file.js';
import type { BundleOutput } from '../bundles/write-items.js';
import { RevconvertError } from '../errors.js';
import type { BundleArguments } from './bundle-arguments.js';
import { BUNDLE_OPTIONS, readBundleArguments, readFilters, readMaxWindow, REPEATABLE_BUNDLE_OPTIONS, STANDARD } from './bundle-arguments.js';
import type { Command, RawOptions } from './command.js';
import { flagOption, numberOption, textOption } from './command.js';
import { EXIT } from './exit-status.js';
import { say, sayResult } from './output.js';
import { renderBundleSummary } from './render-bundle-summary.js';

/** `revconvert bundle`: bundles of one kind made another, through filters; looked at, verified; made of repositories, and made repositories. */
export const bundleCommand: Command = {
  usage: '$0 bundle [options] [in] [out]\n\nReads a Mercurial bundle of any kind and writes another. `-`, or nothing: standard input and output.',
  options: {
    ...BUNDLE_OPTIONS,
    json: { type: 'boolean', describe: 'Print what was found or done, or the error, as JSON: with --inspect a line for each record. Not with a bundle on standard output' },
    quiet: { type: 'boolean', describe: 'Print nothing but warnings and errors' },
  },
  repeatable: REPEATABLE_BUNDLE_OPTIONS,
  positionals: { most: 2, message: 'only a bundle to read and one to write are expected' },
  examples: [
    ['hg bundle -a -t gzip-v2 - | $0 bundle --to zstd-v2 > all.hg', 'another compression, in a pipe'],
    ['$0 bundle --to gzip-v1 new.hg old.hg', 'for old clients'],
    ['$0 bundle --inspect all.hg', 'what is in it'],
    ['$0 bundle --from-repo src --to zstd-v2 all.hg', 'all of a repository'],
    ['$0 bundle --to-repo dst all.hg', 'a new repository'],
  ],
  exitStatus: '0 done; 1 done, with something to report; 2 wrong command line; 3 damaged or unsupported input; 4 the system failed; 70 a bug; 130 interrupted; 141 the reader of the output went away.',
  run: (positionals, options, signal, argv) => runBundle(readBundleArguments(positionals, options), options, signal, argv),
};

async function runBundle(args: BundleArguments, options: RawOptions, signal: AbortSignal, argv: readonly string[]): Promise<number> {
  switch (args.mode) {
    case 'convert':
      return runConvert(args, options, signal, argv);
    default:
      throw new RevconvertError('INTERNAL', args.mode);
  }
}

/** The bundle that is read. @throws RevconvertError USAGE where it would be a terminal */
function inputOf({ input }: BundleArguments, signal: AbortSignal): { readonly bytes: AsyncIterable<Buffer>; readonly path: string | undefined } {
  if (input !== STANDARD) return { bytes: openInput(input, signal), path: input };
  if (process.stdin.isTTY) throw new RevconvertError('USAGE', 'a bundle is expected: give a file, or a pipe on standard input');
  return { bytes: readAll(process.stdin, 'standard input', signal), path: undefined };
}

async function runConvert(args: BundleArguments, options: RawOptions, signal: AbortSignal, argv: readonly string[]): Promise<number> {
  checkOutput(args, options);
  const { convertBundle } = await import('../bundles/convert-bundle.js');
  const { bytes, path } = inputOf(args, signal);
  const output = await convertBundle(bytes, {
    to: textOption(options, 'to'),
    level: numberOption(options, 'level'),
    threads: numberOption(options, 'threads'),
    filters: readFilters(argv, options),
    maxWindow: readMaxWindow(options),
    path,
    signal,
    onNotice: (notice) => say(`revconvert: note: ${notice}`),
  });
  return deliver(output, args, options, signal);
}

/** @throws RevconvertError USAGE */
function checkOutput({ output }: BundleArguments, options: RawOptions): void {
  if (output !== STANDARD) return;
  if (flagOption(options, 'json') === true) throw new RevconvertError('USAGE', '--json: standard output has the bundle; give a file for it');
  if (process.stdout.isTTY) throw new RevconvertError('USAGE', 'a bundle is not written to a terminal: give a file, or a pipe on standard output');
}

/** What a shell says of a filter that a closed pipe ended: 128 and the number of SIGPIPE. */
const READER_GONE = 141;

/** Writes a bundle where it is wanted, and says what it is. */
async function deliver({ bytes, summary }: BundleOutput, { output }: BundleArguments, options: RawOptions, signal: AbortSignal): Promise<number> {
  if (output === STANDARD) return (await writeToStream(bytes, process.stdout, signal)) ? EXIT.done : READER_GONE;
  await writeToFile(bytes, output, signal);
  if (flagOption(options, 'json') === true) sayResult(JSON.stringify(summary()));
  else if (flagOption(options, 'quiet') !== true) sayResult(renderBundleSummary(summary(), output));
  return EXIT.done;
}
