import { asBuffer } from '../formats/bytes.js';

/**
 * Raw texts of one revlog by revision, bounded in bytes. Their memory is used again: a text is valid as long as it is
 * in here, or until the next `allocate` where it never was.
 */
export interface TextCache {
  /** The text of a revision; undefined where it is not here (any more). It becomes the most recently used. */
  get(rev: number): Buffer | undefined;
  /** Memory for a text, not zeroed. It is the caller's until it is put in, or given back. */
  allocate(bytes: number): Buffer;
  /** The same bytes in such memory. */
  copy(text: Uint8Array): Buffer;
  /** Keeps a text that was allocated here; the least recently used ones go while there are too many bytes. */
  put(rev: number, text: Buffer): void;
  /** Memory that was allocated here and is not wanted. */
  giveBack(text: Buffer): void;
  /** Takes a text out, whose memory is the caller's from now on; undefined where it is not here (any more). */
  take(rev: number): Buffer | undefined;
  /** Forgets a text that nothing needs any more: its memory is the next that is used again, while it is in the processor's cache. */
  release(rev: number): void;
  /** Forgets all texts: those of another revlog come next. */
  clear(): void;
  /** Bytes of memory of the texts that are here: for small texts more than their own. */
  readonly bytes: number;
}

export interface TextCacheOptions {
  /** Bytes of memory to hold, see `bytes`. Two texts are held whatever their size: a base, and what is built on it. @default 32 MiB */
  readonly maxBytes?: number | undefined;
  /** False: memory is never used again, so that a text outlives its place in here. @default true */
  readonly reuse?: boolean | undefined;
  /** Bytes that are free in front of every text, for who puts something there. @default 0 */
  readonly headroom?: number | undefined;
}

export const DEFAULT_CACHE_BYTES = 1 << 25;

/** The texts that are held whatever their size. */
const MIN_TEXTS = 2;

/** Smallest piece of memory, and how finely sizes are divided: four to each doubling. */
const MIN_CAPACITY = 256;
const STEPS = 4;

/** The memory for a text, in bytes: at most a quarter more than asked, so that few sizes serve all. */
function capacityFor(bytes: number): number {
  if (bytes <= MIN_CAPACITY) return MIN_CAPACITY;
  const step = 2 ** (31 - Math.clz32(bytes - 1)) / STEPS;
  return Math.ceil(bytes / step) * step;
}

export function createTextCache({ maxBytes = DEFAULT_CACHE_BYTES, headroom = 0, reuse = true }: TextCacheOptions = {}): TextCache {
  /** In order of use, the most recent last. */
  const texts = new Map<number, Buffer>();
  /** Memory that is free, by capacity; the last given back is the first taken. */
  const free = new Map<number, ArrayBuffer[]>();
  let bytes = 0;
  let freeBytes = 0;

  const giveBack = (text: Buffer): void => {
    const memory = text.buffer as ArrayBuffer;
    if (!reuse || memory.byteLength === 0 || freeBytes + memory.byteLength > maxBytes) return;
    freeBytes += memory.byteLength;
    const list = free.get(memory.byteLength);
    if (list === undefined) free.set(memory.byteLength, [memory]);
    else list.push(memory);
  };

  const allocate = (size: number): Buffer => {
    const capacity = capacityFor(headroom + size);
    const memory = free.get(capacity)?.pop();
    if (memory === undefined) return asBuffer(new Uint8Array(Buffer.allocUnsafeSlow(capacity).buffer, headroom, size));
    freeBytes -= capacity;
    return Buffer.from(memory, headroom, size);
  };

  const take = (rev: number): Buffer | undefined => {
    const text = texts.get(rev);
    if (text === undefined) return undefined;
    texts.delete(rev);
    bytes -= text.buffer.byteLength;
    return text;
  };

  const release = (rev: number): void => {
    const text = take(rev);
    if (text !== undefined) giveBack(text);
  };

  return {
    get(rev) {
      const text = texts.get(rev);
      if (text !== undefined) {
        texts.delete(rev);
        texts.set(rev, text);
      }
      return text;
    },
    allocate,
    copy(text) {
      const own = allocate(text.length);
      own.set(text);
      return own;
    },
    put(rev, text) {
      release(rev);
      texts.set(rev, text);
      bytes += text.buffer.byteLength;
      for (const [oldest] of texts) {
        if (bytes <= maxBytes || texts.size <= MIN_TEXTS) break;
        release(oldest);
      }
    },
    giveBack,
    take,
    release,
    clear() {
      for (const rev of [...texts.keys()]) release(rev);
    },
    get bytes() {
      return bytes;
    },
  };
}
