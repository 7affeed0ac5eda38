import type { Duplex } from 'node:stream';

import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { decodeChunks, loadDecoders } from '../engines/chunk-codec.js';
import type { DecompressorOptions, MaybePromise } from '../engines/engine.js';
import { andThen, DecodeFault } from '../engines/engine.js';
import { RevconvertError } from '../errors.js';
import type { Revision, RevisionBatch } from '../formats/record.js';
import { deltaOf, soundRevisions } from '../formats/record.js';
import type { RevisionStep, Stage } from '../streams/stage.js';
import { lazyStage, toTransform } from '../streams/stage.js';

/**
 * A stage that decodes every chunk again and compares it with the `delta` it was made from.
 * @throws RevconvertError CHECK_FAILED with path and revision
 */
export function createCheckStage(decoders: ChunkDecoders): Stage {
  return (batch) => andThen(check(batch, soundRevisions(batch), decoders), () => batch);
}

/** The same for one revision, while what its `delta` was made from is still there. */
export const createCheckStep =
  (decoders: ChunkDecoders): RevisionStep =>
  (batch, revision) =>
    revision.damaged ? undefined : check(batch, [revision], decoders);

function check(batch: RevisionBatch, revisions: readonly Revision[], decoders: ChunkDecoders): MaybePromise<void> {
  const results = decodeChunks(
    revisions.map((revision) => revision.chunk),
    revisions.map((revision) => deltaOf(batch, revision).length),
    decoders,
  );
  return andThen(results, (decoded) => {
    for (let i = 0; i < revisions.length; i++) {
      const revision = revisions[i];
      const result = decoded[i];
      if (revision === undefined || (result instanceof Uint8Array && Buffer.compare(result, deltaOf(batch, revision)) === 0)) continue;
      const what = result instanceof DecodeFault ? result.message : 'it decodes to other bytes';
      throw new RevconvertError('CHECK_FAILED', `a chunk just written is wrong: ${what}`, { path: batch.path, rev: revision.rev });
    }
  });
}

/**
 * Decodes every `chunk` again and compares it with `delta`: a Transform over batches, in object mode.
 * @param options `dictionaries`: those that chunks may name
 */
export function checkChunks(options: Pick<DecompressorOptions, 'dictionaries'> = {}): Duplex {
  return toTransform(lazyStage(async () => createCheckStage(await loadDecoders({ dictionaries: options.dictionaries }))));
}
