import { Console } from 'node:console';

import type { Input } from '../bundles/input.js';
import { openInput, readStream } from '../bundles/input.js';
import type { InspectRecord } from '../bundles/inspect/records.js';
import type { MakeRepositoryOptions } from '../bundles/make-repository.js';
import { writeToFile, writeToStream } from '../bundles/output-file.js';
import type { BundleOutput } from '../bundles/write-items.js';
import { RevconvertError } from '../errors.js';
import { showable } from '../repository/byte-path.js';
import type { BundleArguments, BundleMode } from './bundle-arguments.js';
import { BUNDLE_OPTIONS, modeOf, readBundleArguments, readFilters, readMaxWindow, readRange, readStreamStore, REPEATABLE_BUNDLE_OPTIONS, STANDARD, STORE_OPTIONS } from './bundle-arguments.js';
import type { Command, RawOptions } from './command.js';
import { flagOption, numberOption, repositoryArgument, textOption, textOptions } from './command.js';
import { readLockOptions, readStoreOptions } from './convert-options.js';
import { EXIT } from './exit-status.js';
import { say, sayResult } from './output.js';
import { REPEATABLE_POLICY_OPTIONS } from './policy-options.js';
import { createBundleRenderer, renderJsonRecord } from './render-bundle.js';
import { renderBundleSummary } from './render-bundle-summary.js';
import { renderBundleVerification } from './render-bundle-verification.js';
import { renderRepositoryOutcome } from './render-repository-outcome.js';

/** `revconvert bundle`: bundles of one kind made another, through filters; looked at, verified; made of repositories, and made repositories. */
export const bundleCommand: Command = {
  usage: '$0 bundle [options] [in] [out]\n       $0 bundle --from-repo REPOSITORY [options] [out]\n       $0 bundle --to-repo FOLDER [options] [in]\n       $0 bundle --inspect|--verify [options] [in]\n\nReads a Mercurial bundle of any kind and writes another. `-`, or nothing: standard input and output. A file that exists is replaced, once the new one is whole.',
  options: {
    ...inGroup('What is done:', BUNDLE_OPTIONS),
    json: { type: 'boolean', describe: 'Print what was found or done, or the error, as JSON: with --inspect a line for each record. Not with a bundle on standard output' },
    quiet: { type: 'boolean', describe: 'Print nothing but warnings and errors' },
    ...STORE_OPTIONS,
  },
  repeatable: [...REPEATABLE_BUNDLE_OPTIONS, ...REPEATABLE_POLICY_OPTIONS],
  positionals: { most: 2, message: 'only a bundle to read and one to write are expected' },
  examples: [
    ['$0 bundle --to zstd-v2 < old.hg > new.hg', 'another compression, in a pipe'],
    ['$0 bundle --to gzip-v1 new.hg old.hg', 'for old clients'],
    ['$0 bundle --inspect all.hg', 'what is in it'],
    ['$0 bundle --from-repo src --to zstd-v2 all.hg', 'all of a repository'],
    ['$0 bundle --to-repo dst all.hg', 'a new repository'],
  ],
  exitStatus: '0 done; 1 done, with something to report, or nothing to bundle; 2 wrong command line; 3 damaged or unsupported input; 4 the system failed; 70 a bug; 130 interrupted; 141 the reader of the output went away.',
  run: (positionals, options, signal, argv) => RUN[modeOf(options)](readBundleArguments(positionals, options), options, signal, argv),
};

/** Options under a heading of the help. */
function inGroup(group: string, options: Command['options']): Command['options'] {
  return Object.fromEntries(Object.entries(options).map(([name, option]) => [name, { ...option, group }]));
}

type Run = (args: BundleArguments, options: RawOptions, signal: AbortSignal, argv: readonly string[]) => Promise<number>;

const RUN: Readonly<Record<BundleMode, Run>> = { 'convert': runConvert, 'inspect': runInspect, 'verify': runVerify, 'from-repo': runFromRepository, 'to-repo': runToRepository };

/** A note may have several lines, and columns, where a filter made it. */
function onNotice(notice: string): void {
  for (const line of notice.trimEnd().split('\n')) say(`revconvert: note: ${line.replaceAll('\t', '  ')}`);
}

/** The bundle that is read. @throws RevconvertError USAGE where it would be a terminal */
function inputOf({ input }: BundleArguments, signal: AbortSignal): Input {
  if (input !== STANDARD) return openInput(input, signal);
  if (process.stdin.isTTY) throw new RevconvertError('USAGE', 'a bundle is expected: give a file, or a pipe on standard input');
  return readStream(() => process.stdin, 'standard input', signal);
}

/** Lets go of what is read in whatever way the action ends: a pipe that stays open would keep the process. */
async function withInput<T>(args: BundleArguments, signal: AbortSignal, action: (bytes: AsyncIterable<Buffer>, options: { readonly path: string | undefined; readonly signal: AbortSignal }) => Promise<T>): Promise<T> {
  const { bytes, close } = inputOf(args, signal);
  try {
    return await action(bytes, { path: args.input === STANDARD ? undefined : args.input, signal });
  } finally {
    close();
  }
}

async function runConvert(args: BundleArguments, options: RawOptions, signal: AbortSignal, argv: readonly string[]): Promise<number> {
  checkOutput(args, options);
  const { convertBundle } = await import('../bundles/convert-bundle.js');
  const how = {
    to: textOption(options, 'to'),
    level: numberOption(options, 'level'),
    threads: numberOption(options, 'threads'),
    filters: readFilters(argv, options),
    maxWindow: readMaxWindow(options),
    onNotice,
  };
  return withInput(args, signal, async (bytes, read) => deliver(await convertBundle(bytes, { ...how, ...read }), args, options, signal));
}

/** @throws RevconvertError USAGE */
function checkOutput({ output }: BundleArguments, options: RawOptions): void {
  if (output !== STANDARD) return;
  if (flagOption(options, 'json') === true) throw new RevconvertError('USAGE', '--json: standard output has the bundle; give a file for it');
  if (process.stdout.isTTY) throw new RevconvertError('USAGE', 'a bundle is not written to a terminal: give a file, or a pipe on standard output');
  // What a filter of the user's own says with console.log must not get into the bundle.
  globalThis.console = new Console(process.stderr, process.stderr);
}

/** What a shell says of a filter that a closed pipe ended: 128 and the number of SIGPIPE. */
const READER_GONE = 141;

/** Writes a bundle where it is wanted, and says what it is. */
async function deliver({ bytes, summary }: BundleOutput, { output }: BundleArguments, options: RawOptions, signal: AbortSignal): Promise<number> {
  if (output === STANDARD) return (await writeToStream(bytes, process.stdout, signal)) ? EXIT.done : READER_GONE;
  if (!(await writeToFile(bytes, output, signal))) return READER_GONE;
  if (flagOption(options, 'json') === true) sayResult(JSON.stringify(summary()));
  else if (flagOption(options, 'quiet') !== true) sayResult(renderBundleSummary(summary(), output));
  return EXIT.done;
}

async function runFromRepository(args: BundleArguments, options: RawOptions, signal: AbortSignal, argv: readonly string[]): Promise<number> {
  checkOutput(args, options);
  const { makeBundle } = await import('../bundles/make-bundle.js');
  const store = readStreamStore(options);
  const output = await makeBundle(repositoryArgument(textOption(options, 'from-repo')), {
    to: textOption(options, 'to'),
    level: store === undefined ? numberOption(options, 'level') : undefined,
    threads: numberOption(options, 'threads'),
    filters: readFilters(argv, options),
    range: readRange(textOption(options, 'rev-range')),
    stream: flagOption(options, 'stream'),
    convert: store,
    jobs: numberOption(options, 'jobs'),
    ...readLockOptions(options),
    signal,
    onNotice,
  });
  if (output !== undefined) return deliver(output, args, options, signal);
  if (flagOption(options, 'quiet') !== true) say('revconvert: there are no changesets to bundle');
  return EXIT.warnings;
}

async function runToRepository(args: BundleArguments, options: RawOptions, signal: AbortSignal, argv: readonly string[]): Promise<number> {
  const to = textOption(options, 'to');
  if (to !== undefined && /-(?:v\d|packed|stream)/.test(to)) throw new RevconvertError('USAGE', `--to: with --to-repo it is the compression of the new store, as zstd, found '${to}'`);
  const { makeRepository } = await import('../bundles/make-repository.js');
  const destination = textOption(options, 'to-repo') ?? '';
  if (destination === '') throw new RevconvertError('USAGE', '--to-repo: the folder is missing');
  const store = readStoreOptions({ ...options, redelta: textOptions(options, 'redelta').at(-1) });
  const how: MakeRepositoryOptions = {
    ...store,
    check: textOption(options, 'check') as MakeRepositoryOptions['check'],
    filters: readFilters(argv, options, ['redelta']),
    maxWindow: readMaxWindow(options),
    onNotice,
  };
  const outcome = await withInput(args, signal, (bytes, read) => makeRepository(bytes, destination, { ...how, ...read }));
  if (flagOption(options, 'json') === true) sayResult(JSON.stringify(outcome));
  else if (flagOption(options, 'quiet') !== true) sayResult(renderRepositoryOutcome(outcome));
  return EXIT.done;
}

async function runVerify(args: BundleArguments, options: RawOptions, signal: AbortSignal): Promise<number> {
  const { verifyBundle } = await import('../bundles/verify/verify-bundle.js');
  const { readBundleItems } = await import('../streams/bundle/read-bundle.js');
  const maxWindow = readMaxWindow(options);
  const report = await withInput(args, signal, (bytes, read) => verifyBundle(readBundleItems(bytes, { maxWindow, ...read }), { signal }));
  if (flagOption(options, 'json') === true) sayResult(JSON.stringify(report));
  else for (const line of renderBundleVerification(report, flagOption(options, 'quiet') === true)) sayResult(line);
  if (!report.sound) return EXIT.input;
  return report.warnings.length > 0 ? EXIT.warnings : EXIT.done;
}

async function runInspect(args: BundleArguments, options: RawOptions, signal: AbortSignal): Promise<number> {
  const { inspectBundle } = await import('../bundles/inspect/inspect-bundle.js');
  const { readBundleItems } = await import('../streams/bundle/read-bundle.js');
  const maxWindow = readMaxWindow(options);
  const all = flagOption(options, 'all') ?? false;
  const render = flagOption(options, 'json') === true ? jsonLine : createBundleRenderer(all);
  let bytesRead = 0;
  const onBytes = (some: number): void => void (bytesRead += some);
  const isRead = await withInput(args, signal, (bytes, read) => {
    const records = inspectBundle(readBundleItems(bytes, { maxWindow, onBytes, ...read }), { revisions: all ? 'all' : 'changesets', bytesRead: () => bytesRead });
    return writeToStream(renderAll(records, render), process.stdout, signal);
  });
  return isRead ? EXIT.done : READER_GONE;
}

const jsonLine = (record: InspectRecord): string => {
  const line = renderJsonRecord(record);
  return line === undefined ? '' : `${Buffer.from(line).toString('latin1')}\n`;
};

/** Lines as bytes, a portion of records at a time. */
async function* renderAll(portions: AsyncIterable<readonly InspectRecord[]>, render: (record: InspectRecord) => string): AsyncGenerator<Buffer, void, void> {
  for await (const records of portions) {
    const text = Buffer.from(records.map(render).join(''), 'latin1');
    yield process.stdout.isTTY ? Buffer.from(showable(text.toString())) : text;
  }
}
