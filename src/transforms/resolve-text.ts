import type { SpoiltRevisions } from '../delta/spoilt.js';
import { isSpoilt } from '../delta/spoilt.js';
import type { TextResolver } from '../delta/text-resolver.js';
import { isPromise } from '../engines/engine.js';
import type { RevconvertError } from '../errors.js';
import { toRevconvertError } from '../errors.js';
import type { Revision } from '../formats/record.js';
import type { RevisionStep } from '../streams/stage.js';

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
      fail(batch.path, revision, error); return;
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
