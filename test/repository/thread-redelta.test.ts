import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';

import { describe, it } from 'mocha';

import type { DeltaPolicy, PolicySet } from '../../src/delta/policy.js';
import { PRESETS } from '../../src/delta/policy.js';
import { Arena } from '../../src/engines/arena.js';
import type { EngineName } from '../../src/engines/engine.js';
import { loadEngine } from '../../src/engines/registry.js';
import type { Revision } from '../../src/formats/record.js';
import type { ConversionSettings } from '../../src/repository/settings.js';
import { WITHOUT_DICTIONARIES } from '../../src/repository/settings.js';
import { createThreadRedelta } from '../../src/repository/thread-redelta.js';
import { memorySource } from '../../src/streams/byte-source.js';
import { readIndex } from '../../src/streams/read-index.js';
import { createReader } from '../../src/streams/read-revlog.js';
import { drive, fuseStages } from '../../src/streams/stage.js';
import { createDecompressStage } from '../../src/transforms/decompress.js';
import type { RevisionSpec, RevlogLayout } from '../support/revlog-builder.js';
import { applyHunks, buildRevlog, LAYOUTS, richHistory, SPLIT } from '../support/revlog-builder.js';
import { decoders } from '../transforms/support.js';

const forAll = (policy: DeltaPolicy): PolicySet => ({ changelog: policy, manifest: policy, filelog: policy });

const settingsOf = (policy: DeltaPolicy, engine: EngineName, checkChunks: boolean): ConversionSettings => ({
  engine,
  levels: { changelog: undefined, manifest: undefined, filelog: undefined },
  checksum: false,
  checkChunks,
  redelta: 'all',
  policy: forAll(policy),
  keepGoing: false,
  generaldelta: policy.generaldelta,
  dictionaries: WITHOUT_DICTIONARIES,
  fileMode: undefined,
});

/** A revision as it is written: the chunks of a batch are taken when all of it is done, as the writer does. */
type Written = Pick<Revision, 'deltaBase'> & { readonly chunk: Buffer };

async function convert(layout: RevlogLayout, specs: readonly RevisionSpec[], policy: DeltaPolicy, engine: EngineName, checkChunks = true, isStopped = (): boolean => false): Promise<Written[]> {
  const built = buildRevlog(layout, specs);
  const source = memorySource(built.index, 'data/f.i');
  const reader = createReader(source, readIndex(source), { path: 'data/f.i', kind: 'filelog', openData: () => memorySource(built.data, 'data/f.d') });
  const compressor = (await loadEngine(engine)).createCompressor();
  const redelta = createThreadRedelta(settingsOf(policy, engine, checkChunks), decoders, new Arena(), isStopped);
  const written: Written[] = [];
  const stage = fuseStages([createDecompressStage(decoders), redelta.createStage(reader.origin, compressor)]);
  await drive(reader.batches(), stage, ({ revisions }) => {
    for (const { deltaBase, chunk } of revisions) written.push({ deltaBase, chunk: Buffer.from(chunk) });
  });
  return written;
}

function decoded(chunk: Buffer): Buffer {
  if (chunk[0] === 0x78) return inflateSync(chunk);
  return chunk[0] === 0x75 ? chunk.subarray(1) : chunk;
}

/** The texts that are written, by the reference. */
function textsOf(written: readonly Written[]): Buffer[] {
  const texts: Buffer[] = [];
  for (const { deltaBase, chunk } of written) {
    const delta = decoded(chunk);
    texts.push(deltaBase < 0 ? delta : applyHunks(texts[deltaBase] ?? assert.fail('a base that comes later'), delta));
  }
  return texts;
}

const { filelog } = PRESETS.mercurial;
const POLICIES: Readonly<Record<string, DeltaPolicy>> = {
  'mercurial': filelog,
  'mercurial-3.7': PRESETS['mercurial-3.7'].filelog,
  'smallest': PRESETS.smallest.filelog,
  'fastest-read': PRESETS['fastest-read'].filelog,
  'no deltas': { ...filelog, deltas: false },
  'no generaldelta': { ...filelog, generaldelta: false, sparse: false },
};

describe('new deltas of a revlog', () => {
  it('are given up within a batch where the thread is to stop: one batch can take minutes', async () => {
    let asked = 0;
    const stop = (): boolean => ++asked === 2;
    const noise = (rev: number): Buffer => Buffer.concat(Array.from({ length: 600 }, (_, i) => createHash('sha256').update(`${rev} ${i}`).digest()));
    const unrelated: RevisionSpec[] = Array.from({ length: 120 }, (_, rev) => ({ text: noise(rev), p1: rev === 0 ? -1 : 0, p2: -1, base: 'full', store: 'u' }));
    await assert.rejects(convert(SPLIT, unrelated, { ...filelog, exhaustive: true, maxCompression: null, groupSize: 1000 }, 'zlib', true, stop), { code: 'CANCELLED' });
  }).timeout(60_000);

  for (const [name, policy] of Object.entries(POLICIES)) {
    for (const [title, layout] of Object.entries(LAYOUTS)) {
      it(`${name}: make every text again, from ${title}`, async () => {
        const specs = richHistory(layout);
        for (const engine of ['zlib', 'none'] as const) {
          const written = await convert(layout, specs, policy, engine);
          assert.deepEqual(textsOf(written), specs.map(({ text }) => text), engine);
          if (!policy.generaldelta) assert.ok(written.every(({ deltaBase }, rev) => deltaBase < 0 || deltaBase === rev - 1));
        }
      });
    }
  }

  it('leave full texts alone that are stored as they are: the memory of their texts is used again', async () => {
    // Nothing makes these shorter, and they begin with NUL: the chunk is the text itself.
    const specs = Array.from({ length: 20 }, (_, rev): RevisionSpec => ({ text: Buffer.concat([Buffer.of(0), createHash('sha1').update(String(rev)).digest()]) }));
    for (const checkChunks of [true, false]) {
      const written = await convert(SPLIT, specs, { ...filelog, deltas: false }, 'zlib', checkChunks);
      assert.deepEqual(textsOf(written), specs.map(({ text }) => text));
    }
  });
});
