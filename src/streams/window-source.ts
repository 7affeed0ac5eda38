import type { ByteSource } from './byte-source.js';

/** Bytes of a window: as many as Mercurial reads at least. */
export const WINDOW_BYTES = 1 << 16;

/**
 * A source that reads in whole windows and keeps the last one, for readers that take one chunk after the other, in
 * whatever direction. A read that reaches over several windows takes them in one.
 * @param source what is read from; closing it is the caller's
 */
export function windowSource(source: ByteSource, windowBytes = WINDOW_BYTES): ByteSource {
  let start = 0;
  let window: Buffer = Buffer.alloc(0);
  return {
    path: source.path,
    size: source.size,
    read(position, length) {
      const end = position + length;
      if (end > source.size) return source.read(position, length);
      if (position < start || end > start + window.length) {
        start = position - (position % windowBytes);
        const windows = Math.ceil((end - start) / windowBytes);
        window = source.read(start, Math.min(windows * windowBytes, source.size - start));
      }
      return window.subarray(position - start, end - start);
    },
    close: () => undefined,
  };
}
