/** Shared by the tests of the transforms. */
import assert from 'node:assert/strict';

import { loadDecoders } from '../../src/engines/chunk-codec.js';
import type { EngineName } from '../../src/engines/engine.js';
import { listAvailableEngines } from '../../src/engines/registry.js';
import { RevconvertError } from '../../src/errors.js';
import type { Revision, RevisionBatch } from '../../src/formats/record.js';
import type { Stage } from '../../src/streams/stage.js';
import { makeRevision } from '../support/revlog-builder.js';

export const decoders = await loadDecoders({ eager: ['zlib', 'zstd', 'lz4'] });

export const availableEngines: readonly EngineName[] = (await listAvailableEngines()).map(({ name }) => name);

export const batch = (...revisions: readonly (Partial<Revision> & { readonly rev: number })[]): RevisionBatch => ({
  path: 'data/f.i',
  kind: 'filelog',
  revisions: revisions.map(makeRevision),
});

/** The error of a stage, which may throw or reject. */
export async function errorOf(stage: Stage, given: RevisionBatch): Promise<RevconvertError> {
  try {
    await stage(given);
  } catch (error) {
    assert.ok(error instanceof RevconvertError, String(error));
    return error;
  }
  return assert.fail('the stage accepted the batch');
}
