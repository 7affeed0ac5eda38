/** Bundles between streams of all sorts: cut anyhow, slow, broken off at either end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';

import { describe, it } from 'mocha';

import type { BundleItem } from '../../src/formats/bundle/items.js';
import { convertBundle, createRedeltaStage, RevconvertError } from '../../src/index.js';
import { writeBundleBytes } from '../../src/sinks/bundle/write-bundle.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import type { BundleStage } from '../../src/streams/bundle/stage.js';
import { throughStages } from '../../src/streams/bundle/stage.js';
import { hunk, i32, partHeader, slices } from '../support/bundle-builder.js';
import type { BundleKind } from '../support/bundle-kinds.js';
import { assertTiny, body2, BUNDLE_KINDS, changegroupPart, otherPart, tinyOf, wrap } from '../support/bundle-kinds.js';
import { bundleItems, changegroupPart as changegroupHeader, CHANGELOG, groupItems, makeRevisions, portions } from '../support/changegroup-items.js';
import { assertNoDescriptors, descriptorsIn } from '../support/descriptors.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { useTempFolder } from '../support/temp-folder.js';

const SLICES = [1, 7, 65536];

const converted = async (source: AsyncIterable<Uint8Array>, to?: string): Promise<Buffer> => buffer((await convertBundle(source, { to })).bytes);

describe('slices of any size', () => {
  for (const from of BUNDLE_KINDS) {
    for (const slice of SLICES) {
      it(`${from} in slices of ${slice}, to every kind`, async () => {
        for (const to of BUNDLE_KINDS) assertTiny(await converted(slices(tinyOf(from), slice), to), from, to);
        assertTiny(await converted(slices(tinyOf(from), slice), 'none-v2;cg.version=03'), from, 'none-v2', '03');
      });
    }

    it(`${from} without a target stays of its kind`, async () => {
      assertTiny(await converted(slices(tinyOf(from), 1000)), from, from);
    });
  }
});

/** A bundle with so many bytes that no engine makes smaller, in a part that is of no concern. */
function large(kind: BundleKind, bytes: number): Buffer {
  const frames = Array.from({ length: bytes / 32768 }, () => [i32(32768), randomBytes(32768)]).flat();
  return wrap(kind, body2(changegroupPart('02', 'whole'), Buffer.concat([partHeader('unknown', 1), ...frames, i32(0)])));
}

/** Slices that are counted as they are taken. */
function counted(bytes: Buffer, slice: number): { readonly source: AsyncGenerator<Buffer>; readonly taken: () => number } {
  let taken = 0;
  const source = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of slices(bytes, slice)) {
      taken += piece.length;
      yield piece;
    }
  };
  return { source: source(), taken: () => taken };
}

const LARGE_BYTES = 16 << 20;
const MOST_IN_FLIGHT = 6 << 20;

describe('slow readers and writers', function () {
  this.timeout(60_000);

  for (const kind of BUNDLE_KINDS.filter((one) => one.endsWith('v2'))) {
    it(`${kind}: what nobody takes is not read`, async () => {
      const { source, taken } = counted(large(kind, LARGE_BYTES), 100_000);
      const { bytes } = await convertBundle(source, { to: 'none-v2' });
      let [given, most] = [0, 0];
      for await (const piece of bytes) {
        given += piece.length;
        // Time in which everything that can be read ahead is.
        for (let i = 0; i < 3; i++) await turn();
        most = Math.max(most, taken() - given);
      }
      assert.ok(given > LARGE_BYTES, String(given));
      assert.ok(most < MOST_IN_FLIGHT, `${most} bytes were under way`);
    });

    it(`${kind}: nothing is read before anything is wanted, and no more once a reader stops`, async () => {
      const { source, taken } = counted(large(kind, LARGE_BYTES), 100_000);
      const { bytes } = await convertBundle(source, { to: 'gzip-v2' });
      await delay(20);
      assert.equal(taken(), 0);
      await bytes.next();
      await delay(300);
      const afterFirst = taken();
      assert.ok(afterFirst < 2 * MOST_IN_FLIGHT, `${afterFirst} bytes were read`);
      await delay(100);
      assert.equal(taken(), afterFirst);
      await bytes.return();
    });
  }

  for (const kind of BUNDLE_KINDS) {
    it(`${kind} that trickles in is converted all the same`, async () => {
      const trickle = async function* (): AsyncGenerator<Buffer> {
        for await (const piece of slices(tinyOf(kind), 40)) {
          await delay(1);
          yield piece;
          yield Buffer.alloc(0);
        }
      };
      assertTiny(await converted(trickle(), 'none-v2'), kind, 'none-v2');
    });
  }
});

/** Fails where something takes longer than anything here may. */
async function soon<T>(action: Promise<T>, what: string): Promise<T> {
  const stop = new AbortController();
  const late = delay(5000, undefined, { signal: stop.signal }).then(
    () => assert.fail(`${what}: it hangs`),
    () => assert.fail('stopped'),
  );
  late.catch(() => undefined);
  try {
    return await Promise.race([action, late]);
  } finally {
    stop.abort();
  }
}

/** So many bytes of a bundle, and then nothing for ever; it knows what becomes of it. */
class Silent implements AsyncIterable<Buffer>, AsyncIterator<Buffer, undefined> {
  closed = false;
  #at = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly slice: number,
  ) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    if (this.#at >= this.bytes.length) return new Promise(() => undefined);
    const value = this.bytes.subarray(this.#at, (this.#at += this.slice));
    return Promise.resolve({ done: false, value });
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.closed = true;
    return Promise.resolve({ done: true, value: undefined });
  }
}

/** A bundle of which the last third is missing, and which is so long that some of it comes out before. */
const cut = (kind: BundleKind): Buffer => {
  const whole = large(kind, 3 << 20);
  return whole.subarray(0, (whole.length * 2) / 3);
};

const uncompressed: BundleStage = (item) => (item.type === 'bundle' ? { ...item, compression: 'none' } : item);

/** A stage that changes nothing, and says when it is closed. */
function watched(): { readonly stage: BundleStage; readonly closed: () => number } {
  let closed = 0;
  const stage: BundleStage = (item) => item;
  stage.close = () => {
    closed++;
  };
  return { stage, closed: () => closed };
}

const KINDS_2 = BUNDLE_KINDS.filter((kind) => kind.endsWith('v2'));

describe('a source that fails', () => {
  for (const kind of BUNDLE_KINDS) {
    for (const at of [0, 5, 30, 200]) {
      it(`${kind}, behind ${at} bytes: its own error comes out, and stages are closed`, async () => {
        const error = new Error('of the source');
        const source = async function* (): AsyncGenerator<Buffer> {
          yield* slices(tinyOf(kind).subarray(0, at), 10);
          throw error;
        };
        const { stage, closed } = watched();
        await assert.rejects(buffer(writeBundleBytes(throughStages(readBundleItems(source()), [stage, uncompressed]))), (found) => found === error);
        assert.equal(closed(), 1);
        await assert.rejects(converted(source(), 'none-v2'), (found) => found === error);
      });
    }
  }

  for (const kind of KINDS_2) {
    it(`${kind}, in the middle of what comes out: that has no end`, async () => {
      const source = async function* (): AsyncGenerator<Buffer> {
        yield* slices(cut(kind), 65536);
        throw new Error('of the source');
      };
      for (const to of KINDS_2) {
        const pieces: Buffer[] = [];
        await assert.rejects(async () => {
          for await (const piece of (await convertBundle(source(), { to })).bytes) pieces.push(piece);
        }, /of the source/);
        await assert.rejects(converted(slices(Buffer.concat(pieces), 65536), 'none-v2'), ({ code }: RevconvertError) => code === 'BUNDLE_TRUNCATED' || (pieces.length === 0 && code === 'NOT_A_BUNDLE'));
      }
    });
  }

  it('a Readable that is destroyed: its error comes out', async () => {
    const error = new Error('of the stream');
    const source = new Readable({ read: () => undefined });
    source.push(tinyOf('none-v2').subarray(0, 100));
    setTimeout(() => source.destroy(error), 20);
    await assert.rejects(soon(converted(source), 'conversion'), (found) => found === error);
  });
});

describe('a reader that leaves', () => {
  const temporary = useTempFolder();

  for (const kind of KINDS_2) {
    it(`${kind}: closes the source and the stages, also where the source is silent`, async () => {
      const source = new Silent(cut(kind), 50_000);
      const { stage, closed } = watched();
      const leave = async (): Promise<void> => {
        for await (const piece of writeBundleBytes(throughStages(readBundleItems(source), [stage, uncompressed]))) if (piece.length > 0) break;
      };
      await soon(leave(), 'leaving');
      assert.deepEqual([source.closed, closed()], [true, 1]);
    });

    it(`${kind}: a stream that is silent is destroyed`, async () => {
      const source = new Readable({ read: () => undefined });
      source.push(cut(kind));
      const leave = async (): Promise<void> => {
        for await (const piece of (await convertBundle(source, { to: 'none-v2' })).bytes) if (piece.length > 0) break;
      };
      await soon(leave(), 'leaving');
      assert.ok(source.destroyed);
    });
  }

  /** Runs an action with temporary files in a folder of their own. */
  async function withTemporary(action: (folder: string) => Promise<void>): Promise<void> {
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = temporary();
    try {
      await action(temporary());
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  }

  /** Changesets of a megabyte, which need a temporary file where nothing is kept in memory. */
  const spooled = (): ReturnType<typeof portions> => {
    const revisions = makeRevisions(Array.from({ length: 4 }, (_, i) => ({ text: `${i}${'x'.repeat(1 << 20)}` })));
    const items = bundleItems(changegroupHeader('02'), groupItems(CHANGELOG, revisions));
    return portions(items.flatMap((item): BundleItem[] => (item.type === 'revisions' ? item.revisions.map((one) => ({ ...item, revisions: [one] })) : [item])));
  };

  for (const [what, end] of [
    ['a reader that leaves', async (bytes: AsyncIterable<Buffer>) => {
      for await (const piece of bytes) if (piece.length > 0) break;
    }],
    ['a reader that reads all', async (bytes: AsyncIterable<Buffer>) => assert.ok((await buffer(bytes)).length > 0)],
  ] as const) {
    it(`${what} leaves no temporary file`, async () => {
      await withTemporary(async (folder) => {
        const stage = createRedeltaStage('previous', { spoolBytes: 1 });
        let seen = 0;
        const look: BundleStage = (item) => {
          seen = Math.max(seen, descriptorsIn(folder).length);
          return item;
        };
        await end(writeBundleBytes(throughStages(spooled(), [stage, look])));
        if (process.platform === 'linux') assert.equal(seen, 1, 'there was one');
        assertNoDescriptors(folder);
        assert.deepEqual(readdirSync(folder), []);
      });
    });
  }

  it('the process ends, though its standard input does not', async () => {
    const program = `
      import { convertBundle } from ${JSON.stringify(join(PROJECT_ROOT, 'dist', 'src', 'index.js'))};
      const { bytes } = await convertBundle(process.stdin, { to: 'none-v2' });
      for await (const piece of bytes) { console.log(piece.length > 0); break; }`;
    for (const kind of KINDS_2) {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['pipe', 'pipe', 'inherit'] });
      child.stdin.on('error', () => undefined);
      child.stdin.write(cut(kind));
      const said = buffer(child.stdout);
      const ended = new Promise((resolve) => child.once('exit', (status, signal) => resolve(signal ?? status)));
      try {
        assert.equal(await soon(ended, kind), 0);
        assert.equal((await said).toString(), 'true\n');
      } finally {
        child.kill();
      }
    }
  });
});

describe('an AbortSignal', function () {
  this.timeout(60_000);

  const cancelled = ({ code, at }: RevconvertError): boolean => code === 'CANCELLED' && at.path === undefined;

  for (const from of BUNDLE_KINDS) {
    it(`${from}: while the source is silent`, async () => {
      for (const length of [0, 3, 20, 150]) {
        const source = new Silent(tinyOf(from).subarray(0, length), 10);
        const controller = new AbortController();
        const { bytes } = await convertBundle(source, { to: 'none-v2', signal: controller.signal, path: 'name' });
        const read = buffer(bytes);
        setTimeout(() => controller.abort(), 5);
        await assert.rejects(soon(read, `behind ${length} bytes`), cancelled);
        assert.ok(source.closed);
      }
    });
  }

  for (const from of KINDS_2) {
    it(`${from}: at any moment, to every kind: CANCELLED, or done`, async () => {
      const bytes = large(from, 2 << 20);
      for (const to of KINDS_2) {
        for (let time = 0; time < 60; time += 10 + Math.floor(Math.random() * 20)) {
          const controller = new AbortController();
          const timer = setTimeout(() => controller.abort(), time);
          const work = async (): Promise<void> => {
            const made = await convertBundle(slices(bytes, 30_000), { to, signal: controller.signal });
            for await (const piece of made.bytes) if (piece.length === 0) assert.fail('an empty piece');
          };
          try {
            await soon(work(), `${to}, after ${time} ms`);
          } catch (error) {
            assert.ok(error instanceof RevconvertError && cancelled(error), String(error));
          } finally {
            clearTimeout(timer);
          }
        }
      }
    });
  }

  it('that was aborted before: nothing is read', async () => {
    const { source, taken } = counted(tinyOf('none-v2'), 10);
    const { bytes } = await convertBundle(source, { signal: AbortSignal.abort() });
    await assert.rejects(buffer(bytes), cancelled);
    assert.equal(taken(), 0);
  });
});

describe('what comes before anything is given out', () => {
  it('a level that the kind of the source does not have', async () => {
    const pieces: Buffer[] = [];
    await assert.rejects(
      async () => {
        for await (const piece of (await convertBundle(slices(tinyOf('gzip-v2'), 50), { level: 10 })).bytes) pieces.push(piece);
      },
      { code: 'LEVEL' },
    );
    assert.deepEqual(pieces, []);
  });

  for (const to of ['zstd-v2;level=99', 'gzip-v2;level=10', 'none-v2;level=1', 'bzip2-v1;level=0']) {
    it(`${to}: LEVEL, before anything is read`, async () => {
      const { source, taken } = counted(tinyOf('none-v2'), 10);
      await assert.rejects(convertBundle(source, { to }), { code: 'LEVEL' });
      assert.equal(taken(), 0);
    });
  }

  it('what the first part is refused for', async () => {
    const pieces: Buffer[] = [];
    const source = wrap('none-v2', body2(otherPart('UNKNOWN', 0, hunk(0, 0, 'x'))));
    await assert.rejects(
      async () => {
        for await (const piece of (await convertBundle(slices(source, 50), { to: 'none-v2' })).bytes) pieces.push(piece);
      },
      { code: 'PART_UNKNOWN' },
    );
    assert.deepEqual(pieces, []);
  });
});
