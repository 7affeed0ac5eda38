import type { Duplex } from 'node:stream';
import { Duplex as DuplexStream } from 'node:stream';

import { decompressBundle } from '../../engines/streams/decompress-bundle.js';
import { RevconvertError, toRevconvertError } from '../../errors.js';
import type { BundleCompression, BundleItem, BundleStart } from '../../formats/bundle/items.js';
import { compressionOfCode, MAGIC_BYTES, readMagic } from '../../formats/bundle/magic.js';
import type { Parameter, PartHeader } from '../../formats/bundle/part-header.js';
import { STREAM1_PART } from '../../formats/bundle/stream-clone.js';
import { isMandatory, parseStreamParameters } from '../../formats/bundle/stream-parameters.js';
import type { BeginningOptions } from './beginning.js';
import { Beginning } from './beginning.js';
import { ByteFeed } from './byte-feed.js';
import { parseChangegroup } from './parse-changegroup.js';
import { parseParts } from './parse-parts.js';
import type { ParserContext, Parsing } from './parser.js';

/** `signal` ends all reading, also a wait for the source; `onBytes` is told of the bytes of each piece that comes. */
export interface ReadBundleOptions extends BeginningOptions {
  /** Revisions as records, always or by the part; otherwise as chunks that nobody looked at, which is faster where nobody has to. @default true */
  readonly records?: boolean | ((part: PartHeader) => boolean) | undefined;
  /** The largest window of a zstd stream, in bytes. @default 128 MiB */
  readonly maxWindow?: number | undefined;
  /** Name of the input, for messages. */
  readonly path?: string | undefined;
}

/**
 * Reads a bundle of any kind, told by its first bytes, out of slices of any size.
 * @param source the bytes; closed at the end, and where the reader leaves early
 * @returns items in portions, at least one in each; `end` comes last, once the input has ended where the bundle does
 * @throws RevconvertError NOT_A_BUNDLE, BUNDLE_VERSION, BUNDLE_PARAMETER, BUNDLE_TRUNCATED, BUNDLE_TRAILING, BUNDLE_COMPRESSION,
 *   WINDOW_SIZE, ENGINE_MISSING, PART_MALFORMED, CHANGEGROUP_VERSION, CHANGEGROUP_MALFORMED, with part, group and offset;
 *   CANCELLED; what the source throws
 */
export async function* readBundleItems(source: AsyncIterable<Uint8Array>, options: ReadBundleOptions = {}): AsyncGenerator<readonly BundleItem[], void, void> {
  const { path, records = true, maxWindow, signal } = options;
  const beginning = new Beginning(source, options);
  try {
    const { start, offset } = await readStart(beginning);
    yield [start];
    const body = decompressBundle(start.compression, beginning.rest(), { maxWindow, start: offset, signal });
    yield* parseBody(start, body, typeof records === 'boolean' ? () => records : records, start.compression === 'none' ? offset : 0);
    yield [{ type: 'end' }];
  } catch (error) {
    throw error instanceof RevconvertError && error.kind !== 'cancelled' && path !== undefined ? error.located({ path }) : error;
  } finally {
    await beginning.close();
  }
}

/** A bundle in bytes as items, a Transform; errors as {@link readBundleItems}. */
export function readBundle(options: ReadBundleOptions = {}): Duplex {
  return DuplexStream.from(async function* (source: AsyncIterable<Uint8Array>) {
    for await (const items of readBundleItems(source, options)) yield* items;
  });
}

/** Reads what stands before the compressed part, which is next in `beginning` then. */
async function readStart(beginning: Beginning): Promise<{ readonly start: BundleStart; readonly offset: number }> {
  const bytes = await beginning.peek(MAGIC_BYTES);
  const magic = readMagic(bytes);
  if ('code' in magic) throw new RevconvertError(magic.code, magic.message, { offset: 0 });
  beginning.skip(magic.length);
  const { container, compression, length } = magic;
  if (compression !== undefined) return { start: { type: 'bundle', container, compression, parameters: [] }, offset: length };
  const parameterBytes = await readParameters(beginning, length);
  const parameters = parseStreamParameters(parameterBytes);
  const known = compressionOf(parameters);
  const others = parameters.filter(({ name }) => name !== COMPRESSION);
  checkKnown(others);
  return { start: { type: 'bundle', container, compression: known, parameters: others }, offset: length + LENGTH_BYTES + parameterBytes.length };
}

const LENGTH_BYTES = 4;
const COMPRESSION = 'Compression';

/** Of stream parameters: far more than anything that is written. */
const MAX_PARAMETER_BYTES = 1 << 16;

async function readParameters(beginning: Beginning, offset: number): Promise<Buffer> {
  const cut = (found: number, expected: number): RevconvertError =>
    new RevconvertError('BUNDLE_TRUNCATED', `stream parameters: ${expected} bytes expected, ${found} are there`, { offset });
  const head = await beginning.peek(LENGTH_BYTES);
  if (head.length < LENGTH_BYTES) throw cut(head.length, LENGTH_BYTES);
  const length = head.readUInt32BE(0);
  if (length > MAX_PARAMETER_BYTES) throw new RevconvertError('BUNDLE_PARAMETER', `stream parameters of ${length} bytes; at most ${MAX_PARAMETER_BYTES} are expected`, { offset });
  const bytes = await beginning.peek(LENGTH_BYTES + length);
  if (bytes.length < LENGTH_BYTES + length) throw cut(bytes.length - LENGTH_BYTES, length);
  beginning.skip(LENGTH_BYTES + length);
  return bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
}

function compressionOf(parameters: readonly Parameter[]): BundleCompression {
  const given = parameters.filter(({ name }) => name === COMPRESSION);
  if (given.length > 1) throw new RevconvertError('BUNDLE_PARAMETER', 'stream parameters: the compression is given twice');
  const code = given[0]?.value;
  const compression = code === undefined ? 'none' : compressionOfCode(code);
  if (compression === undefined) throw new RevconvertError('BUNDLE_PARAMETER', `stream parameters: unknown compression ${JSON.stringify(code)}`);
  return compression;
}

function checkKnown(parameters: readonly Parameter[]): void {
  const unknown = parameters.find(isMandatory);
  if (unknown !== undefined) throw new RevconvertError('BUNDLE_PARAMETER', `unknown mandatory stream parameter ${JSON.stringify(unknown.name)}`);
}

/** The parts of bundles that have one, which stands in no header. */
const IMPLIED: Readonly<Record<'HG10' | 'HGS1', PartHeader>> = {
  HG10: { type: 'changegroup', id: 0, mandatory: true, mandatoryParameters: [{ name: 'version', value: '01' }], advisoryParameters: [] },
  HGS1: STREAM1_PART,
};

/** @param offset of the first byte of the body, for messages */
async function* parseBody({ container }: BundleStart, body: AsyncIterable<Buffer>, records: ParserContext['records'], offset: number): AsyncGenerator<readonly BundleItem[], void, void> {
  let items: BundleItem[] = [];
  if (container !== 'HG20') items.push({ type: 'part', part: IMPLIED[container], interrupts: false });
  if (container === 'HGS1') {
    yield items;
    for await (const bytes of body) yield [{ type: 'data', bytes }];
    yield [{ type: 'part-end' }];
    return;
  }
  const feed = new ByteFeed();
  const context: ParserContext = { feed, records, whenCut: 'BUNDLE_TRUNCATED', place: {}, emit: (item) => items.push(item) };
  const parsing = new Drive(container === 'HG20' ? parseParts(context) : parseImplied(context));
  let next = offset;
  for await (const bytes of placed(body, context)) {
    feed.push(bytes, next);
    next += bytes.length;
    await parsing.goOn();
    if (parsing.isDone && feed.available > 0) throw new RevconvertError('BUNDLE_TRAILING', `${feed.available} bytes or more behind the end of the bundle`, { offset: feed.position });
    if (items.length === 0) continue;
    yield items;
    items = [];
  }
  feed.end();
  await parsing.goOn();
  if (items.length > 0) yield items;
}

/** The bytes of a body; where they cannot be had, the error says how far the bundle was read. */
async function* placed(body: AsyncIterable<Buffer>, { feed, place }: ParserContext): AsyncGenerator<Buffer, void, void> {
  try {
    yield* body;
  } catch (error) {
    if (error instanceof RevconvertError && error.kind === 'input') throw new RevconvertError(error.code, error.message, { ...place, offset: feed.position + feed.available }, { cause: error });
    throw error;
  }
}

function* parseImplied(context: ParserContext): Parsing<void> {
  yield* parseChangegroup(context, IMPLIED.HG10);
  context.emit({ type: 'part-end' });
}

/** Lets a parser go on as far as the bytes that are there reach. */
class Drive {
  isDone = false;

  constructor(private readonly parsing: Parsing<void>) {}

  async goOn(): Promise<void> {
    let waited: unknown;
    while (!this.isDone) {
      const next = this.parsing.next(waited);
      this.isDone = next.done === true;
      if (next.done === true || next.value === undefined) return;
      waited = await next.value.catch((error: unknown) => {
        throw toRevconvertError(error);
      });
    }
  }
}
