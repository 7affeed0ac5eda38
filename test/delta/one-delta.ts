/** One delta made, one applied, each for itself: what the code under test does for many at a time. */
import { applyDelta } from '../../src/delta/apply.js';
import type { DiffOptions } from '../../src/delta/diff.js';
import { createDiffer } from '../../src/delta/diff.js';
import { malformedDelta, patchedSize } from '../../src/formats/hunks.js';

/** The delta from one text to another, by a differ that made no other. */
export const diffTexts = (base: Uint8Array, text: Uint8Array, options: DiffOptions): Uint8Array => createDiffer().diff(base, text, options);

/** Checks a delta and makes a text from it, in memory of its own. @throws RevconvertError DELTA_MALFORMED */
export function applyChecked(base: Uint8Array, delta: Uint8Array): Uint8Array {
  const size = patchedSize(delta, base.length);
  if (typeof size !== 'number') throw malformedDelta(size);
  const target = Buffer.allocUnsafe(size);
  applyDelta(base, delta, target);
  return target;
}
