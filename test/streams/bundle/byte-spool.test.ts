import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';

import { afterEach, beforeEach, describe, it } from 'mocha';

import { ByteSpool } from '../../../src/streams/bundle/byte-spool.js';
import { assertNoDescriptors, CAN_LIST_DESCRIPTORS, descriptorsIn } from '../../support/descriptors.js';
import { createRandom } from '../../support/random.js';
import { useTempFolder } from '../../support/temp-folder.js';

describe('ByteSpool', () => {
  const temporary = useTempFolder();
  const before = process.env['TMPDIR'];
  beforeEach(() => {
    process.env['TMPDIR'] = temporary();
  });
  afterEach(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });

  const MIB = 1 << 20;
  for (const memory of [0, 1000, MIB, 3 * MIB - 7]) {
    it(`gives back what was put in, with ${memory} bytes of it in memory`, () => {
      const random = createRandom(memory + 1);
      const spool = new ByteSpool(memory);
      const source = Buffer.alloc(6 * MIB);
      for (let i = 0; i < source.length; i += 4) source.writeUInt32BE(random(0x7fffffff), i);
      const pieces: { readonly at: number; readonly bytes: Buffer }[] = [];
      for (let at = 0; at < source.length; ) {
        const bytes = source.subarray(at, at + random(random(20) === 0 ? 2 * MIB : 5000));
        assert.equal(spool.append(bytes), at);
        pieces.push({ at, bytes });
        at += bytes.length;
        const earlier = pieces[random(pieces.length)];
        assert.ok(earlier !== undefined && spool.read(earlier.at, earlier.bytes.length).equals(earlier.bytes));
      }
      assert.equal(spool.length, source.length);
      for (const { at, bytes } of pieces) assert.ok(spool.read(at, bytes.length).equals(bytes));
      spool.close();
      assert.deepEqual(readdirSync(temporary()), []);
      assertNoDescriptors(temporary());
    });
  }

  it('begins anew, in memory and in its file', () => {
    const spool = new ByteSpool(10);
    for (const fill of [1, 2, 3]) {
      const bytes = Buffer.alloc(3 * MIB, fill);
      assert.equal(spool.append(bytes), 0);
      assert.ok(spool.read(0, bytes.length).equals(bytes));
      spool.clear();
      assert.equal(spool.length, 0);
    }
    spool.append(Buffer.from('abc'));
    assert.equal(spool.read(1, 2).toString(), 'bc');
    spool.close();
    spool.close();
  });

  it('has a file without a name, and only where it needs one', function () {
    if (!CAN_LIST_DESCRIPTORS) this.skip();
    const spool = new ByteSpool(MIB);
    spool.append(Buffer.alloc(MIB));
    assert.deepEqual(descriptorsIn(temporary()), []);
    spool.append(Buffer.alloc(MIB));
    assert.equal(descriptorsIn(temporary()).length, 1);
    assert.deepEqual(readdirSync(temporary()), []);
    spool.close();
    assert.deepEqual(descriptorsIn(temporary()), []);
  });

  it('says where there is no folder for temporary files', () => {
    process.env['TMPDIR'] = temporary('nowhere');
    const spool = new ByteSpool(0);
    assert.throws(() => spool.append(Buffer.alloc(2 * MIB)), { code: 'SYSTEM' });
  });
});
