import assert from 'node:assert/strict';
import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../src/errors.js';
import type { RevisionBatch } from '../../src/formats/record.js';
import type { WriteRevlogOptions } from '../../src/sinks/write-revlog.js';
import { writeRevlog } from '../../src/sinks/write-revlog.js';
import { openRevlog } from '../../src/streams/read-revlog.js';
import { batchesOf, closed, revisionsOf, revsOf, runModule, settle } from '../streams/support.js';
import { assertNoDescriptors } from '../support/descriptors.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { makeRevision } from '../support/revlog-builder.js';
import { useTempFolder } from '../support/temp-folder.js';

/** One revision, too large for an inline revlog. */
const large = (rev: number): RevisionBatch => ({
  path: 'data/f.i',
  kind: 'filelog',
  revisions: [makeRevision({ rev, rawSize: 200_000, chunk: Buffer.alloc(200_000) })],
});

describe('writing a revlog as a stream', () => {
  const inFolder = useTempFolder();
  const files = (): string[] => readdirSync(inFolder()).sort();
  const contents = (name: string): string => readFileSync(inFolder(name), 'latin1');

  /** Writes batches to `f.i`. */
  const write = (batches: Iterable<RevisionBatch>, more: Partial<WriteRevlogOptions> = {}): Promise<void> =>
    pipeline(Readable.from(batches), writeRevlog({ indexFile: inFolder('f.i'), ...more }));

  const readBack = (): number[] => {
    const reader = openRevlog({ indexFile: inFolder('f.i'), dataFile: inFolder('f.d') });
    const batches = [...reader.batches()];
    reader.close();
    return revsOf(batches);
  };

  const targets: readonly (readonly [title: string, batches: readonly RevisionBatch[], more: (folder: string) => Partial<WriteRevlogOptions>, files: readonly string[]])[] = [
    ['a small revlog', batchesOf(20), () => ({}), ['f.i']],
    ['a large revlog', [large(0), ...batchesOf(3).slice(1)], () => ({}), ['f.d', 'f.i']],
    ['a revlog without revisions', [], () => ({}), ['f.i']],
    ['a large revlog with a name of one\'s own for the data', [large(0)], (folder) => ({ dataFile: join(folder, 'own') }), ['f.i', 'own']],
    ['a large revlog without .i', [large(0)], (folder) => ({ indexFile: join(folder, 'index') }), ['index', 'index.d']],
    ['a large revlog with .i within its name', [large(0)], (folder) => ({ indexFile: join(folder, 'a.i.i') }), ['a.i.d', 'a.i.i']],
  ];
  for (const [title, batches, more, expected] of targets) {
    it(`makes the files of ${title}, and leaves no other`, async () => {
      await write(batches, more(inFolder()));
      assert.deepEqual(files(), expected);
      assertNoDescriptors(inFolder());
      if (expected.every((name) => name.startsWith('f.'))) assert.deepEqual(readBack(), revsOf(batches));
    });
  }

  it('has generaldelta unless it is told otherwise', async () => {
    await write(batchesOf(2));
    assert.equal(readFileSync(inFolder('f.i')).readUInt32BE(), 0x00030001);
    await write(batchesOf(2), { generaldelta: false });
    assert.equal(readFileSync(inFolder('f.i')).readUInt32BE(), 0x00010001);
  });

  it('writes under other names until it is done', async () => {
    const sink = writeRevlog({ indexFile: inFolder('f.i') });
    sink.write(large(0));
    await settle();
    assert.deepEqual(files(), ['f.d.tmp']);
    sink.end();
    await closed(sink);
    assert.deepEqual(files(), ['f.d', 'f.i']);
  });

  it('replaces a revlog, and leaves the files of its clones alone', async () => {
    for (const name of ['f.i', 'f.d']) {
      writeFileSync(inFolder(name), `old ${name}`);
      linkSync(inFolder(name), inFolder(`clone-${name}`));
    }
    await write([large(0)]);
    assert.deepEqual([contents('clone-f.i'), contents('clone-f.d')], ['old f.i', 'old f.d']);
    assert.deepEqual(readBack(), [0]);
  });

  it('leaves the old revlog as it is where it fails', async () => {
    writeFileSync(inFolder('f.i'), 'old f.i');
    writeFileSync(inFolder('f.d'), 'old f.d');
    const bad: RevisionBatch = { path: 'data/f.i', kind: 'filelog', revisions: [makeRevision({ rev: 5, deltaBase: 1 })] };
    await assert.rejects(write([large(0), bad], { generaldelta: false }), { code: 'INTERNAL', at: { rev: 5 } });
    assert.deepEqual(files(), ['f.d', 'f.i']);
    assert.deepEqual([contents('f.i'), contents('f.d')], ['old f.i', 'old f.d']);
    assertNoDescriptors(inFolder());
  });

  for (const name of ['f.i.tmp', 'f.d.tmp']) {
    it(`does not touch ${name} of somebody else`, async () => {
      writeFileSync(inFolder(name), 'somebody else');
      await assert.rejects(write([large(0)]), { code: 'SYSTEM', message: /^EEXIST/, at: { path: inFolder(name) } });
      assert.deepEqual(files(), [name]);
      assert.equal(contents(name), 'somebody else');
      assertNoDescriptors(inFolder());
    });
  }

  describe('leaves nothing behind', () => {
    for (const [title, first] of [['small', batchesOf(1)], ['large', [large(0)]]] as const) {
      it(`when the source fails, what came before is ${title}`, async () => {
        function* failing(): Generator<RevisionBatch> {
          yield* first;
          throw new RevconvertError('DATA_TRUNCATED', 'ends here', { rev: 1 });
        }
        const sink = writeRevlog({ indexFile: inFolder('f.i') });
        await assert.rejects(pipeline(Readable.from(failing()), sink), { code: 'DATA_TRUNCATED', at: { rev: 1 } });
        await closed(sink);
        assert.deepEqual(files(), []);
        assertNoDescriptors(inFolder());
      });

      it(`when it is destroyed, what came before is ${title}`, async () => {
        for (const error of [undefined, new Error('enough')]) {
          const sink = writeRevlog({ indexFile: inFolder('f.i') });
          sink.on('error', () => undefined);
          for (const batch of first) sink.write(batch);
          await settle();
          sink.destroy(error);
          await closed(sink);
          assert.deepEqual(files(), []);
          assertNoDescriptors(inFolder());
        }
      });

      it(`at an abort, what came before is ${title}`, async () => {
        const abort = new AbortController();
        const sink = writeRevlog({ indexFile: inFolder('f.i') });
        async function* waiting(): AsyncGenerator<RevisionBatch> {
          yield* first;
          await new Promise<void>((resolve) => abort.signal.addEventListener('abort', () => resolve()));
        }
        const checked = assert.rejects(pipeline(Readable.from(waiting()), sink, { signal: abort.signal }), { name: 'AbortError' });
        await settle();
        abort.abort();
        await checked;
        await closed(sink);
        assert.deepEqual(files(), []);
        assertNoDescriptors(inFolder());
      });
    }

    for (const [title, batches, taken] of [
      ['the index cannot be put in its place', [large(0)], 'f.i'],
      ['the data cannot be put in its place', [large(0)], 'f.d'],
      ['the index of a small revlog cannot be put in its place', batchesOf(2), 'f.i'],
    ] as const) {
      it(`when ${title}: a folder has the name`, async () => {
        mkdirSync(inFolder(taken));
        writeFileSync(inFolder(`${taken}/inside`), '');
        await assert.rejects(write(batches), { code: 'SYSTEM', message: /^E(?:ISDIR|NOTEMPTY|EXIST|PERM)/, at: { path: inFolder(`${taken}.tmp`) } });
        assert.deepEqual(files(), [taken]);
        assertNoDescriptors(inFolder());
      });
    }

    it('when the folder is not there', async () => {
      const sink = writeRevlog({ indexFile: inFolder('none/f.i') });
      await assert.rejects(pipeline(Readable.from([large(0)]), sink), { code: 'SYSTEM', message: /^ENOENT/, at: { path: inFolder('none/f.d.tmp') } });
      assert.deepEqual(files(), []);
    });

    it('when the disk is full', function () {
      if (process.platform === 'win32') {
        this.skip(); // no limits
      }
      const printed = runModule(
        {
          '{ writeRevlog }': join(PROJECT_ROOT, 'dist/src/sinks/write-revlog.js'),
        },
        `import { Readable } from 'node:stream';
         import { pipeline } from 'node:stream/promises';
         const chunk = new Uint8Array(200_000);
         const batch = { revisions: [{ rev: 0, node: new Uint8Array(20), p1: -1, p2: -1, linkRev: 0, flags: 0, rawSize: 0, deltaBase: -1, chunk }] };
         await pipeline(Readable.from([batch]), writeRevlog({ indexFile: ${JSON.stringify(inFolder('f.i'))} })).catch((error) => console.log(JSON.stringify([error.code, error.at])));`,
        100,
      );
      assert.deepEqual(JSON.parse(printed), ['NO_SPACE', { path: inFolder('f.i') }]);
      assert.deepEqual(files(), []);
    });
  });

  it('gives the same file, however the revisions are cut into batches', async () => {
    const whole = { ...large(0), revisions: revisionsOf([large(0), ...batchesOf(50).slice(1)]) };
    await write([whole]);
    const expected = [contents('f.i'), contents('f.d')];
    await write(whole.revisions.map((revision) => ({ ...whole, revisions: [revision] })));
    assert.deepEqual([contents('f.i'), contents('f.d')], expected);
  });
});
