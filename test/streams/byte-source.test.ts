import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { ByteSource } from '../../src/streams/byte-source.js';
import { memorySource, openByteSource } from '../../src/streams/byte-source.js';
import { assertNoDescriptors, CAN_LIST_DESCRIPTORS, descriptorsIn } from '../support/descriptors.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { useTempFolder } from '../support/temp-folder.js';
import { runModule, writeAt } from './support.js';

const GIB4 = 2 ** 32;

describe('byte source', () => {
  const inFolder = useTempFolder();

  /** A file of some bytes as a source. */
  const fileOf = (bytes: Uint8Array): ByteSource => {
    writeFileSync(inFolder('f.d'), bytes);
    return openByteSource(inFolder('f.d'), 'data/f.d');
  };

  const kinds: readonly (readonly [string, (bytes: Uint8Array) => ByteSource, number])[] = [
    ['a small file', fileOf, 1000],
    ['a large file', fileOf, 600_000],
    ['memory', (bytes) => memorySource(bytes, 'data/f.d'), 1000],
  ];
  for (const [title, open, size] of kinds) {
    const bytes = Buffer.from(Array.from({ length: size }, (_, i) => (i * 7) % 251));

    it(`${title}: reads exactly what was asked for`, () => {
      const source = open(bytes);
      assert.deepEqual([source.path, source.size], ['data/f.d', size]);
      for (const [position, length] of [[0, size], [0, 0], [0, 1], [size - 1, 1], [size, 0], [size >> 1, 100], [3, 7]] as const) {
        assert.deepEqual(source.read(position, length), bytes.subarray(position, position + length), `${position}+${length}`);
      }
      source.close();
    });

    it(`${title}: refuses to read beyond the end`, () => {
      const source = open(bytes);
      for (const [position, length] of [[0, size + 1], [size, 1], [size + 1, 0], [size - 1, 2], [GIB4, 1]] as const) {
        assert.throws(() => source.read(position, length), { code: 'DATA_TRUNCATED', at: { path: 'data/f.d', offset: position } });
      }
      source.close();
    });
  }

  it('memory may be a view of something larger', () => {
    const view = new Uint8Array(Buffer.from('__bytes__')).subarray(2, 7);
    assert.equal(memorySource(view, '').read(1, 4).toString(), 'ytes');
  });

  it('reads beyond 4 GiB', () => {
    writeAt(inFolder('sparse'), GIB4 + 12_345, Buffer.from('far away'));
    assert.ok(statSync(inFolder('sparse')).blocks < 1000, 'the file is not sparse');
    const source = openByteSource(inFolder('sparse'), 'sparse');
    assert.equal(source.size, GIB4 + 12_353);
    assert.equal(source.read(GIB4 + 12_340, 13).toString('latin1'), '\0\0\0\0\0far away');
    assert.throws(() => source.read(GIB4 + 12_346, 8), { code: 'DATA_TRUNCATED', at: { path: 'sparse', offset: GIB4 + 12_346 } });
    source.close();
  });

  for (const [size, offset] of [[100, 0], [600_000, 599_000]] as const) {
    it(`notices a file of ${size} bytes that became shorter after it was opened`, () => {
      const source = fileOf(Buffer.alloc(size));
      truncateSync(inFolder('f.d'), size - 90);
      assert.throws(() => source.read(size === 100 ? 0 : offset, size - offset), { code: 'DATA_TRUNCATED', at: { path: 'data/f.d', offset } });
      source.close();
    });
  }

  it('closes its descriptor, once', function () {
    if (!CAN_LIST_DESCRIPTORS) {
      this.skip();
    }
    const source = fileOf(Buffer.from('x'));
    assert.deepEqual(descriptorsIn(inFolder()), [inFolder('f.d')]);
    source.close();
    assertNoDescriptors(inFolder());
    const other = openByteSource(inFolder('f.d'), 'other');
    source.close();
    assert.equal(other.read(0, 1).toString(), 'x', 'the second close hit the descriptor of another file');
    other.close();
    assertNoDescriptors(inFolder());
  });

  it('says that a file is missing', () => {
    assert.throws(() => openByteSource(inFolder('none'), 'data/none.i'), {
      code: 'SYSTEM',
      message: /^ENOENT/,
      at: { path: inFolder('none') },
    });
  });

  it('refuses a folder', () => {
    mkdirSync(inFolder('folder'));
    assert.throws(() => openByteSource(inFolder('folder'), 'data/f.i'), { code: 'SYSTEM', message: 'not a regular file', at: { path: 'data/f.i' } });
    assertNoDescriptors(inFolder());
  });

  it('refuses a FIFO, and does not wait for a writer', function () {
    if (process.platform === 'win32') {
      this.skip(); // no FIFO
    }
    execFileSync('mkfifo', [inFolder('fifo')]);
    const printed = runModule(
      { '{ openByteSource }': join(PROJECT_ROOT, 'dist/src/streams/byte-source.js') },
      `try { openByteSource(${JSON.stringify(inFolder('fifo'))}, 'data/f.i'); } catch (error) { console.log(JSON.stringify([error.code, error.message, error.at])); }`,
    );
    assert.deepEqual(JSON.parse(printed), ['SYSTEM', 'not a regular file', { path: 'data/f.i' }]);
  });
});
