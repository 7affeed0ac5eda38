import type { Duplex } from 'node:stream';

import type { SpoiltRevisions } from '../delta/spoilt.js';
import { createSpoiltRevisions, isSpoilt } from '../delta/spoilt.js';
import { createTextCache } from '../delta/text-cache.js';
import type { TextResolver } from '../delta/text-resolver.js';
import { createTextResolver } from '../delta/text-resolver.js';
import type { ChunkDecoders } from '../engines/chunk-codec.js';
import { loadDecoders } from '../engines/chunk-codec.js';
import type { Dictionaries } from '../engines/engine.js';
import { isPromise } from '../engines/engine.js';
import { runSteps } from '../engines/steps.js';
import { RevconvertError, toRevconvertError } from '../errors.js';
import type { Revision } from '../formats/record.js';
import { readChain } from '../streams/chain-reader.js';
import type { RevlogFiles } from '../streams/read-revlog.js';
import { openRevlog } from '../streams/read-revlog.js';
import type { RevisionStep, Stage } from '../streams/stage.js';
import { lazyStage, stageOf, toTransform } from '../streams/stage.js';

export interface ResolveStepOptions {
  readonly resolver: TextResolver;
  readonly spoilt: SpoiltRevisions;
  /** Called for each revision whose text cannot be rebuilt for a reason of its own; without it the first is an error. */
  readonly onDamage?: ((error: RevconvertError) => void) | undefined;
  /** Called for each revision that is sound but for what it is built on. */
  readonly onUnresolved?: ((revision: Revision) => void) | undefined;
}

/**
 * A step that fills `text` from `delta` and the text of its base. A revision that is spoilt keeps `text` undefined.
 * The text is valid until the resolver settles the revision.
 * @throws RevconvertError DELTA_BASE, CHUNK_* with path and revision
 */
export function createResolveStep({ resolver, spoilt, onDamage, onUnresolved }: ResolveStepOptions): RevisionStep {
  const fail = (path: string, revision: Revision, error: unknown): void => {
    const failure = toRevconvertError(error, { path, rev: revision.rev, offset: revision.position });
    if (onDamage === undefined || failure.kind !== 'input') throw failure;
    spoilt.add(revision.rev);
    // Damage of a revision that this one is built on is that one's to report.
    if (failure.at.rev === revision.rev) onDamage(failure);
    else onUnresolved?.(revision);
  };
  return (batch, revision) => {
    if (isSpoilt(revision, spoilt)) {
      if (!revision.damaged) onUnresolved?.(revision);
      return undefined;
    }
    try {
      const text = resolver.resolve(revision);
      if (!isPromise(text)) {
        revision.text = text;
        return undefined;
      }
      return text.then(
        (resolved) => {
          revision.text = resolved;
        },
        (error: unknown) => fail(batch.path, revision, error),
      );
    } catch (error) {
      fail(batch.path, revision, error);
      return undefined;
    }
  };
}

/** The last step of a revision: its text is let go, or kept for those built on it. */
export const createSettleStep = (resolver: TextResolver): RevisionStep => (_batch, revision) => {
  resolver.settle(revision);
  // A full text: it is in the memory of the text.
  if (revision.delta === revision.text) revision.delta = undefined;
  revision.text = undefined;
};

export interface ResolveTextOptions {
  /** Where the revlog is: a text that is needed again and was let go is rebuilt from there. Without it, that is an error. */
  readonly revlog?: RevlogFiles | undefined;
  /** Bytes of texts to keep for those built on them. @default 32 MiB */
  readonly maxCacheBytes?: number | undefined;
  /** The dictionaries that chunks of `revlog` may name, by ID. @default none */
  readonly dictionaries?: Dictionaries | undefined;
}

/**
 * Fills `text` from `delta` and the text of its base: a Transform over batches, in object mode. Revisions come in order,
 * from the first on, decompressed. A batch holds the texts of all its revisions: give `readRevlog` limits that suit them.
 * @throws (as the stream's error) RevconvertError CHUNK_*, DELTA_MALFORMED with path and revision; USAGE where a text was
 *   let go and there is no `revlog`; as `openRevlog`
 */
export function resolveText({ revlog, maxCacheBytes, dictionaries }: ResolveTextOptions = {}): Duplex {
  const cache = createTextCache({ maxBytes: maxCacheBytes, reuse: false });
  const fetchFrom = async (files: RevlogFiles, rev: number, decoders: ChunkDecoders): Promise<Buffer> => {
    // Opened for this once: a stream that is destroyed has nothing to close.
    const reader = openRevlog(files);
    try {
      return await runSteps(readChain(rev, reader.origin, decoders, cache));
    } finally {
      reader.close();
    }
  };
  const load = async (): Promise<Stage> => {
    const decoders = await loadDecoders({ dictionaries: dictionaries });
    const fetch = (rev: number): Promise<Buffer> => {
      if (revlog !== undefined) return fetchFrom(revlog, rev, decoders);
      throw new RevconvertError('USAGE', 'a text that is needed was let go: give the revlog, or more maxCacheBytes', { rev });
    };
    const resolver = createTextResolver({ cache, lastUse: () => Infinity, fetch });
    const settle: RevisionStep = (_batch, revision) => resolver.settle(revision);
    return stageOf(createResolveStep({ resolver, spoilt: createSpoiltRevisions() }), settle);
  };
  return toTransform(lazyStage(load));
}
