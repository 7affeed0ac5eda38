import { RevconvertError } from '../../errors.js';
import { asBuffer } from '../bytes.js';
import type { Found, StreamEntry, StreamHeader, StreamVersion } from './stream-clone.js';
import { decodeStreamName, MAX_NAME, parseCount, readLeb128, splitRequirements, STREAM1_FIXED } from './stream-clone.js';

/** What a stream clone holds, in its order. */
export type StreamEvent =
  | { readonly type: 'header'; readonly header: StreamHeader }
  /** A file begins; as many `bytes` follow as it has. */
  | { readonly type: 'file'; readonly entry: StreamEntry }
  /** A piece of the file that began last; never empty. */
  | { readonly type: 'bytes'; readonly bytes: Buffer };

/** More than any header, of the stream or of a file, takes. */
const MAX_HEAD = 1 << 17;

/** Bytes in front of the payload of a packed1 bundle: `HGS1UN`. */
const PACKED1_MAGIC = 6;

const LF = 0x0a;

const PLACES: Readonly<Record<number, StreamEntry['place']>> = { 0x73: 'store', 0x63: 'cache' };

/**
 * Reads a stream clone that comes in slices of any size, and checks that it agrees with itself. Holds no more of it than
 * the header of one file.
 */
export class StreamParser {
  #header: StreamHeader | undefined;
  /** The beginning of a header that is not all there yet. */
  #begun: Buffer = Buffer.alloc(0);
  #bodyLeft = 0;
  #files = 0;
  #bytes = 0;
  /** Of the payload, where the header begins that comes next. */
  #position = 0;

  /**
   * @param part how messages call the part
   * @param header of a stream2 part, which stands in the part's own header; undefined: stream1, whose header comes first
   */
  constructor(
    private readonly part: string,
    header?: StreamHeader,
  ) {
    this.#version = header === undefined ? 'stream1' : 'stream2';
    this.#header = header;
  }

  readonly #version: StreamVersion;

  /**
   * @param bytes what comes next; pieces of it are in the events
   * @throws RevconvertError PART_MALFORMED, BUNDLE_TRAILING
   */
  push(bytes: Uint8Array): StreamEvent[] {
    const events: StreamEvent[] = [];
    let rest = asBuffer(bytes);
    while (rest.length > 0) rest = this.#bodyLeft > 0 ? this.#takeBody(rest, events) : this.#takeHead(rest, events);
    return events;
  }

  /** To be called where the payload ends. @throws RevconvertError BUNDLE_TRUNCATED, PART_MALFORMED */
  finish(): void {
    const header = this.#header;
    // The payload of stream2 has an end of its own: where that came, nothing was cut.
    const code = this.#version === 'stream1' ? 'BUNDLE_TRUNCATED' : 'PART_MALFORMED';
    const short = (message: string): RevconvertError => new RevconvertError(code, message, this.#place(this.#position + this.#begun.length));
    if (header === undefined) throw short(`the stream clone ends after ${this.#begun.length} bytes of its header`);
    if (this.#bodyLeft > 0) throw short(`the stream clone ends ${this.#bodyLeft} bytes before the end of file ${this.#files} of ${header.files}`);
    if (this.#files < header.files) throw short(`${header.files} files are announced, ${this.#files} came`);
    if (this.#bytes !== header.bytes) throw this.#malformed(`${header.bytes} bytes of files are announced, ${this.#bytes} came`);
  }

  #takeBody(rest: Buffer, events: StreamEvent[]): Buffer {
    const piece = rest.subarray(0, this.#bodyLeft);
    events.push({ type: 'bytes', bytes: piece });
    this.#bodyLeft -= piece.length;
    this.#position += piece.length;
    return rest.subarray(piece.length);
  }

  #takeHead(rest: Buffer, events: StreamEvent[]): Buffer {
    const begun = this.#begun.length;
    const head = begun === 0 ? rest : Buffer.concat([this.#begun, rest.subarray(0, MAX_HEAD)]);
    const end = this.#readHead(head, events);
    if (end === undefined) {
      const taken = head.length - begun;
      this.#begun = begun === 0 ? Buffer.from(head) : head;
      return rest.subarray(taken);
    }
    this.#begun = Buffer.alloc(0);
    this.#position += end;
    return rest.subarray(end - begun);
  }

  /** @returns where the header ends; undefined: it is not all there yet */
  #readHead(head: Buffer, events: StreamEvent[]): number | undefined {
    const header = this.#header;
    if (header === undefined) {
      const found = this.#readStreamHeader(head);
      if (found === undefined) return undefined;
      this.#header = found.value;
      events.push({ type: 'header', header: found.value });
      return found.end;
    }
    if (this.#files === header.files) {
      const code = this.#version === 'stream1' ? 'BUNDLE_TRAILING' : 'PART_MALFORMED';
      throw new RevconvertError(code, `more bytes follow behind the ${header.files} files that are announced`, this.#place(this.#position));
    }
    const found = this.#version === 'stream1' ? this.#readLine(head) : this.#readBinary(head);
    if (found === undefined) return undefined;
    const { value: entry, end } = found;
    this.#files++;
    this.#bytes += entry.bytes;
    this.#bodyLeft = entry.bytes;
    if (this.#bytes > header.bytes) throw this.#malformed(`with the ${entry.bytes} bytes of ${JSON.stringify(entry.name)} there are ${this.#bytes}; ${header.bytes} are announced`);
    events.push({ type: 'file', entry });
    return end;
  }

  #readStreamHeader(head: Buffer): Found<StreamHeader> {
    const bad = (message: string): RevconvertError => this.#malformed(message);
    if (head.length < STREAM1_FIXED) return undefined;
    const [files, bytes] = [Number(head.readBigUInt64BE(0)), Number(head.readBigUInt64BE(8))];
    if (!Number.isSafeInteger(files) || !Number.isSafeInteger(bytes)) throw bad('files or bytes are more than any store has');
    const end = STREAM1_FIXED + head.readUInt16BE(16);
    if (head.length < end) return undefined;
    if (end === STREAM1_FIXED || head[end - 1] !== 0) throw bad('the requirements do not end with NUL');
    return { value: { files, bytes, requirements: splitRequirements(head.toString('latin1', STREAM1_FIXED, end - 1), bad) }, end };
  }

  /** `name NUL size LF` */
  #readLine(head: Buffer): Found<StreamEntry> {
    const bad = (message: string): RevconvertError => this.#malformed(message);
    const lineEnd = head.subarray(0, MAX_NAME).indexOf(LF);
    if (lineEnd < 0) {
      if (head.length >= MAX_NAME) throw bad(`a line with the name and size of a file is expected, found ${MAX_NAME} bytes without an end of line`);
      return undefined;
    }
    const [name = '', size] = head.toString('latin1', 0, lineEnd).split('\0', 2);
    const bytes = size === undefined ? undefined : parseCount(size);
    if (bytes === undefined) throw bad(`the name of a file, NUL and its size are expected, found ${JSON.stringify(head.toString('latin1', 0, Math.min(lineEnd, 200)))}`);
    return { value: { place: 'store', name: decodeStreamName(name, 'store', 'stream1', bad), bytes }, end: lineEnd + 1 };
  }

  #readBinary(head: Buffer): Found<StreamEntry> {
    const bad = (message: string): RevconvertError => this.#malformed(message);
    const place = PLACES[head[0] ?? 0];
    if (place === undefined) throw bad(`a file begins with s or c, found ${JSON.stringify(head.toString('latin1', 0, 1))}`);
    const nameLength = readLeb128(head, 1, bad);
    if (nameLength === undefined) return undefined;
    if (nameLength.value > MAX_NAME) throw bad(`the name of a file has ${nameLength.value} bytes; ${MAX_NAME} are the most`);
    const bytes = readLeb128(head, nameLength.end, bad);
    if (bytes === undefined) return undefined;
    const end = bytes.end + nameLength.value;
    if (head.length < end) return undefined;
    const name = decodeStreamName(head.toString('latin1', bytes.end, end), place, 'stream2', bad);
    return { value: { place, name, bytes: bytes.value }, end };
  }

  #malformed(message: string): RevconvertError {
    return new RevconvertError('PART_MALFORMED', message, this.#place(this.#position));
  }

  /** Of a packed1 bundle the byte is that of the bundle, of a stream2 part that of its payload. */
  #place(position: number): { readonly part: string; readonly offset: number } {
    return { part: this.part, offset: position + (this.#version === 'stream1' ? PACKED1_MAGIC : 0) };
  }
}
