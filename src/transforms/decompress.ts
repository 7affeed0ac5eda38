import type { Duplex } from 'node:stream';

import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { decodeChunks, loadDecoders, rawChunk } from '../engines/chunk-codec.js';
import type { Dictionaries } from '../engines/engine.js';
import { andThen } from '../engines/engine.js';
import { DecodeFault } from '../engines/engine.js';
import { dictionaryIdOf } from '../engines/zstd-frame.js';
import { RevconvertError } from '../errors.js';
import { deltaLimit, malformedDelta, MAX_TEXT, patchedSize, wrongSize } from '../formats/hunks.js';
import type { Revision, RevisionBatch } from '../formats/record.js';
import { FULL_TEXT, soundRevisions } from '../formats/record.js';
import type { Stage } from '../streams/stage.js';
import { lazyStage, toTransform } from '../streams/stage.js';

export interface DecompressOptions {
  /**
   * Called for each revision whose chunk cannot be decoded, or decodes to the wrong size; the revision is marked
   * `damaged`, keeps its chunk and goes on. Without it the first such revision is an error.
   */
  readonly onDamage?: ((error: RevconvertError) => void) | undefined;
  /** The dictionaries that chunks may name, by ID: `readDictionariesOf`. @default none */
  readonly dictionaries?: Dictionaries | undefined;
  /** The dictionaries do not come along: the chunk of a damaged revision that needs one is stored raw, where it can be decoded. @default false */
  readonly untie?: boolean | undefined;
}

/**
 * A stage that fills `delta` from `chunk`, and `rawSize` where the index does not say it, and checks that each chunk
 * makes a text of the length that the index names.
 * @throws RevconvertError CHUNK_MARKER, CHUNK_DAMAGED, CHUNK_SIZE, DELTA_MALFORMED with path and revision
 */
export function createDecompressStage(decoders: ChunkDecoders, options: DecompressOptions = {}): Stage {
  const measured = new Map<number, number>();

  /** Length of the base of a delta in bytes; -1: unknown. */
  const baseSize = (revision: Revision): number =>
    revision.baseSize >= 0 ? revision.baseSize : (measured.get(revision.deltaBase) ?? -1);

  const limit = (revision: Revision): number => {
    if (revision.deltaBase !== FULL_TEXT) return deltaLimit(baseSize(revision), revision.rawSize);
    return revision.rawSize < 0 ? MAX_TEXT : revision.rawSize;
  };

  const measure = (revision: Revision, delta: Uint8Array): RevconvertError | undefined => {
    const size = revision.deltaBase === FULL_TEXT ? delta.length : patchedSize(delta, baseSize(revision));
    if (typeof size !== 'number') return malformedDelta(size);
    if (size >= 0 && revision.rawSize < 0) {
      revision.rawSize = size;
      measured.set(revision.rev, size);
    }
    if (size < 0 || size === revision.rawSize) return undefined;
    return wrongSize(size, revision.rawSize);
  };

  const accept = (revision: Revision, result: Uint8Array | DecodeFault): RevconvertError | undefined => {
    if (result instanceof DecodeFault) return new RevconvertError(result.code, result.message);
    revision.delta = result;
    return measure(revision, result);
  };

  const take = (path: string, revision: Revision, result: Uint8Array | DecodeFault): void => {
    const error = accept(revision, result);
    if (error === undefined) return;
    const located = error.located({ path, rev: revision.rev, offset: revision.position });
    if (options.onDamage === undefined) throw located;
    revision.damaged = true;
    if (options.untie === true && revision.delta !== undefined && dictionaryIdOf(revision.chunk) !== 0) revision.chunk = rawChunk(revision.delta);
    options.onDamage(located);
  };

  const decodeAll = (batch: RevisionBatch): ReturnType<Stage> => {
    const sound = soundRevisions(batch);
    const results = decodeChunks(
      sound.map((revision) => revision.chunk),
      sound.map(limit),
      decoders,
    );
    return andThen(results, (decoded) => {
      for (let i = 0; i < sound.length; i++) {
        const revision = sound[i];
        const result = decoded[i];
        if (revision !== undefined && result !== undefined) take(batch.path, revision, result);
      }
      return batch;
    });
  };
  return decodeAll;
}

/**
 * Fills `delta` from `chunk`: a Transform over batches, in object mode.
 * @throws (as the stream's error) RevconvertError CHUNK_MARKER, CHUNK_DAMAGED, CHUNK_SIZE, DICTIONARY_MISSING, DELTA_MALFORMED
 */
export function decompress(options: DecompressOptions = {}): Duplex {
  return toTransform(lazyStage(async () => createDecompressStage(await loadDecoders({ dictionaries: options.dictionaries }), options)));
}
