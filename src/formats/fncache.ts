/**
 * The fncache (`.hg/store/fncache`): the names of all revlog files below `data/` and `meta/`, one per line, in no order.
 * The names are bytes, directory-encoded and otherwise unencoded: see {@link ./store-path.ts}. Both files of a split
 * revlog are listed, `.i` and `.d`. Format facts: observed in repositories of Mercurial 6.3 and 7.2.
 */
import { RevconvertError } from '../errors.js';
import { asBuffer } from './bytes.js';
import type { BytePath } from './store-path.js';

const LF = 0x0a;
const NUL = 0x00;

const corrupt = (message: string, offset: number): RevconvertError =>
  new RevconvertError('FNCACHE_CORRUPT', message, { offset });

/**
 * Reads a whole fncache.
 * @param bytes the file
 * @returns the names in the order of the file, as they stand in it: in directory-encoded form (`data/x.d.hg/y.i`)
 * @throws RevconvertError FNCACHE_CORRUPT: no LF at the end, an empty line, or a NUL; `at.offset` says where
 */
export function parseFncache(bytes: Uint8Array): BytePath[] {
  if (bytes.length === 0) return [];
  const buffer = asBuffer(bytes);
  if (buffer[buffer.length - 1] !== LF) {
    throw corrupt('the fncache does not end with a newline: it may have been cut', buffer.length);
  }
  const nul = buffer.indexOf(NUL);
  if (nul !== -1) throw corrupt('the fncache has a NUL byte, which no name can have', nul);
  const lineBefore = buffer[0] === LF ? 0 : buffer.indexOf('\n\n');
  if (lineBefore !== -1) throw corrupt('the fncache has an empty line', lineBefore);
  return buffer.toString('latin1', 0, buffer.length - 1).split('\n');
}

/**
 * Writes a whole fncache.
 * @param names in directory-encoded form, in any order, repeated or not; none is empty or has an LF
 * @returns the file: sorted by bytes, each name once, LF after each; empty where there are no names
 */
export function serialiseFncache(names: Iterable<BytePath>): Buffer {
  const sorted = [...new Set(names)].sort();
  return Buffer.from(sorted.map((name) => `${name}\n`).join(''), 'latin1');
}
