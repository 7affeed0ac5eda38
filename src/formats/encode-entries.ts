import { RevconvertError } from '../errors.js';
import type { Revision } from './record.js';
import { FULL_TEXT, NULL_BASE } from './record.js';
import { encodeEntry, ENTRY_SIZE, viewOf } from './revlog-index.js';

/** Turns records into version 1 index entries, chunk after chunk. Holds what runs on from one batch to the next. */
export interface EntryEncoder {
  /**
   * @param revisions the next ones, `chunk` filled
   * @returns their entries, 64 bytes each; the header is not in them
   * @throws RevconvertError INTERNAL where a base cannot be said without generaldelta
   */
  encode(revisions: readonly Revision[]): Buffer;
  /** Bytes of all chunks so far: where the next one begins. */
  readonly end: number;
}

export interface EntryEncoderOptions {
  readonly generaldelta: boolean;
  /** Without generaldelta: the first revision of the chain that the next one may continue. @default none */
  readonly chainStart?: number;
}

export function createEntryEncoder(options: EntryEncoderOptions): EntryEncoder {
  let end = 0;
  let chainStart = options.chainStart ?? -1;

  const baseField = (revision: Revision): number => {
    const { rev, deltaBase } = revision;
    if (deltaBase === FULL_TEXT) {
      chainStart = rev;
      return rev;
    }
    if (deltaBase === NULL_BASE && (options.generaldelta || rev === 0)) {
      chainStart = -1;
      return -1;
    }
    if (options.generaldelta) return deltaBase;
    if (deltaBase === rev - 1) return chainStart;
    throw new RevconvertError('INTERNAL', `delta base ${deltaBase} cannot be written without generaldelta`, { rev });
  };

  return {
    encode(revisions) {
      const table = Buffer.alloc(revisions.length * ENTRY_SIZE);
      const view = viewOf(table);
      let at = 0;
      for (const revision of revisions) {
        encodeEntry(view, at, {
          offset: end,
          flags: revision.flags,
          chunkLength: revision.chunk.length,
          rawSize: revision.rawSize,
          baseField: baseField(revision),
          linkRev: revision.linkRev,
          p1: revision.p1,
          p2: revision.p2,
          node: revision.node,
        });
        at += ENTRY_SIZE;
        end += revision.chunk.length;
      }
      return table;
    },
    get end() {
      return end;
    },
  };
}
