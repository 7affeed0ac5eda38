import type { Duplex } from 'node:stream';

import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { decodeChunks, loadDecoders } from '../engines/chunk-codec.js';
import { andThen } from '../engines/engine.js';
import { DecodeFault } from '../engines/engine.js';
import { RevconvertError } from '../errors.js';
import { deltaOf, soundRevisions } from '../formats/record.js';
import type { Stage } from '../streams/stage.js';
import { lazyStage, toTransform } from '../streams/stage.js';

/**
 * A stage that decodes every chunk again and compares it with the `delta` it was made from.
 * @throws RevconvertError CHECK_FAILED with path and revision
 */
export function createCheckStage(decoders: ChunkDecoders): Stage {
  return (batch) => {
    const sound = soundRevisions(batch);
    const results = decodeChunks(
      sound.map((revision) => revision.chunk),
      sound.map((revision) => deltaOf(batch, revision).length),
      decoders,
    );
    return andThen(results, (decoded) => {
      for (let i = 0; i < sound.length; i++) {
        const revision = sound[i];
        const result = decoded[i];
        if (revision === undefined || (result instanceof Uint8Array && Buffer.compare(result, deltaOf(batch, revision)) === 0)) continue;
        const what = result instanceof DecodeFault ? result.message : 'it decodes to other bytes';
        throw new RevconvertError('CHECK_FAILED', `a chunk just written is wrong: ${what}`, { path: batch.path, rev: revision.rev });
      }
      return batch;
    });
  };
}

/** Decodes every `chunk` again and compares it with `delta`: a Transform over batches, in object mode. */
export function checkChunks(): Duplex {
  return toTransform(lazyStage(async () => createCheckStage(await loadDecoders())));
}
