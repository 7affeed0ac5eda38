import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { afterEach, before, beforeEach, describe, it } from 'mocha';

import { bzip2Compressor } from '../../src/bundles/bzip2-program.js';
import { decompressBundle } from '../../src/engines/streams/decompress-bundle.js';
import { assertCode, collect, slices, WatchedSource, whole } from '../engines/streams/support.js';
import { compressible, concat, noise, runProgram } from '../engines/support.js';

const DATA = Buffer.from(concat(compressible(1_000_000), noise(2_000_000)));

/** A script in place of the program passes the check with this: what no bytes become. */
const EMPTY = String.raw`BZh9\027\162\105\070\120\220\000\000\000\000`;
/** Reads a byte: nothing comes in the check. */
const CHECKED = `if [ "$(head -c 1 | wc -c)" -eq 0 ]; then printf '${EMPTY}'; exit 0; fi`;

const cut = async function* (data: Buffer, length: number): AsyncGenerator<Buffer> {
  for await (const slice of slices(data, length)) yield Buffer.from(slice);
};

describe('the program bzip2', () => {
  const path = process.env['PATH'] ?? '';
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'revconvert-bzip2-'));
  });
  afterEach(() => {
    process.env['PATH'] = path;
    delete process.env['BZIP2'];
    rmSync(folder, { recursive: true, force: true });
  });

  const useScript = (lines: readonly string[], mode = 0o755): void => {
    mkdirSync(join(folder, 'bin'), { recursive: true });
    const program = join(folder, 'bin', 'bzip2');
    writeFileSync(program, ['#!/bin/sh', ...lines, ''].join('\n'));
    chmodSync(program, mode);
    process.env['PATH'] = mode === 0o755 ? join(folder, 'bin') + delimiter + path : join(folder, 'bin');
  };
  const outcomeOf = async (options = {}): Promise<ReturnType<typeof collect>> => {
    try {
      return await collect((await bzip2Compressor(options))(cut(DATA, 100_000)));
    } catch (error) {
      return { bytes: Buffer.alloc(0), sizes: [-1], error };
    }
  };

  describe('where there is one', () => {
    before(function () {
      if (runProgram('bzip2', [], Buffer.alloc(0)) === undefined) this.skip();
    });

    it('writes what it writes by itself, in large pieces, whatever the source is cut into', async () => {
      for (const [level, length] of [[undefined, 100_000], [1, 999_999], [9, 7777]] as const) {
        const { bytes, sizes, error } = await collect((await bzip2Compressor({ level }))(cut(DATA, length)));
        assert.equal(error, undefined);
        assert.deepEqual(bytes, Buffer.from(runProgram('bzip2', [`-${level ?? 9}`], DATA) ?? []));
        assert.ok(sizes.slice(0, -1).every((size) => size >= 65_536), String(sizes));
      }
    });

    it('is read again', async () => {
      for (const data of [Buffer.alloc(0), DATA]) {
        const stream = await whole((await bzip2Compressor())(cut(data, 100_000)));
        assert.ok((await whole(decompressBundle('bzip2', slices(stream, 65_536)))).equals(data));
      }
    });

    it('options in the environment are not heard', async () => {
      const expected = (await outcomeOf()).bytes;
      process.env['BZIP2'] = '-1';
      assert.deepEqual((await outcomeOf()).bytes, expected);
    });

    it('what the source throws comes out as it is', async () => {
      const failure = new Error('mine');
      const failing = async function* (): AsyncGenerator<Buffer> {
        yield await Promise.resolve(DATA);
        throw failure;
      };
      assert.equal((await collect((await bzip2Compressor())(failing()))).error, failure);
    });

    it('who leaves early closes the source', async () => {
      const source = new WatchedSource();
      const pieces = source.pieces(DATA, 100_000) as AsyncGenerator<Buffer>;
      for await (const piece of (await bzip2Compressor())(pieces)) {
        assert.ok(piece.length > 0);
        break;
      }
      assert.ok(source.closed);
    });

    it('the signal ends it, whether it waits or works', async () => {
      for (const wait of [true, false]) {
        const stop = new AbortController();
        const compress = await bzip2Compressor({ signal: stop.signal });
        setTimeout(() => {
          stop.abort();
        }, 50);
        assertCode((await collect(compress(new WatchedSource().pieces(wait ? DATA.subarray(0, 10) : Buffer.alloc(60_000_000, DATA), 100_000, true) as AsyncGenerator<Buffer>))).error, 'CANCELLED');
      }
    });
  });

  it('a level that it has not is refused', async () => {
    for (const level of [0, 10, 1.5]) assertCode((await outcomeOf({ level })).error, 'LEVEL', 'from 1 to 9', String(level));
  });

  for (const [title, prepare, words] of [
    ['is not there', () => { process.env['PATH'] = folder; }, 'is not there'],
    ['may not be run', () => { useScript(['exit 0'], 0o644); }, 'may not be run'],
    ['fails', () => { useScript(['echo bad things >&2', 'exit 3']); }, 'failed with status 3: bad things'],
    ['writes nothing', () => { useScript(['exit 0']); }, 'does not write'],
    ['writes something else', () => { useScript(['echo hello']); }, 'does not write'],
  ] as const) {
    it(`${title}: known before anything is written`, async () => {
      prepare();
      const { error, sizes } = await outcomeOf();
      assertCode(error, 'BZIP_PROGRAM', words);
      assert.deepEqual(sizes, [-1]);
    });
  }

  for (const [title, script, words] of [
    ['fails midway', ['head -c 100000 > /dev/null', 'echo broken >&2', 'exit 1'], 'failed with status 1: broken'],
    ['is killed', ['kill -9 $$'], 'was killed by SIGKILL'],
    ['stops reading', ['exit 0'], 'before it had read everything'],
    ['reads all and fails', ['cat > /dev/null', 'exit 2'], 'failed with status 2'],
  ] as const) {
    it(`${title}: no end, and said so`, async () => {
      useScript([CHECKED, ...script]);
      const { error } = await outcomeOf();
      assertCode(error, 'BZIP_PROGRAM', words);
    });
  }

  it('the signal ends one that ignores requests and whom it has started', async () => {
    useScript([CHECKED, "trap '' TERM INT", 'sleep 60 &', 'wait', 'sleep 60']);
    const stop = new AbortController();
    const compress = await bzip2Compressor({ signal: stop.signal });
    setTimeout(() => {
      stop.abort();
    }, 50);
    const begin = performance.now();
    assertCode((await collect(compress(cut(DATA, 100_000)))).error, 'CANCELLED');
    assert.ok(performance.now() - begin < 10_000);
  });
});
