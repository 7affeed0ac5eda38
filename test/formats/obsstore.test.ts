import assert from 'node:assert/strict';

import { describe, it } from 'mocha';

import { RevconvertError } from '../../src/errors.js';
import { parseObsoleteMarkers } from '../../src/formats/obsstore.js';

const node = (letter: string, bytes = 20): string => letter.repeat(bytes);

/** A marker of version 1 without metadata. */
function marker(precursor: string, successors: readonly string[], parents: readonly string[] | undefined, flags = 0): Buffer {
  const header = Buffer.alloc(19);
  header.writeDoubleBE(1500000000, 4);
  header.writeUInt16BE(flags, 14);
  header[16] = successors.length;
  header[17] = parents?.length ?? 3;
  const bytes = Buffer.concat([header, Buffer.from([precursor, ...successors, ...(parents ?? [])].join(''), 'latin1')]);
  bytes.writeUInt32BE(bytes.length, 0);
  return bytes;
}

/** As Mercurial 6.3 wrote it for `hg commit --amend`. */
const AMENDED = `0000005941dac37fbb3860e300000000010303${'8f'.repeat(20)}${'1e'.repeat(20)}030209050401${Buffer.from('ef133operationamendusert').toString('hex')}`;

/** The same with `format.obsstore-version=0`, and one that prunes a changeset and records its parent. */
const OLD = `010000003700${'8f'.repeat(20)}${'e0'.repeat(20)}${Buffer.from('date:1796080033.8288882 0\0ef1:33\0operation:amend\0user:t').toString('hex')}`;
const OLD_PRUNED = `000000004c00${'bb'.repeat(20)}${Buffer.from(`date:1796080034.3119156 0\0p1:${'e0'.repeat(20)}\0user:t`).toString('hex')}`;

describe('obsolescence markers', () => {
  it('of version 1: who became what', () => {
    const { version, markers } = parseObsoleteMarkers(Buffer.from(`01${AMENDED}`, 'hex'));
    assert.equal(version, 1);
    assert.deepEqual(
      markers.map(({ bytes, ...nodes }) => ({ ...nodes, bytes: Buffer.from(bytes).toString('hex') })),
      [{ precursor: node('\x8f'), successors: [node('\x1e')], parents: [], bytes: AMENDED }],
    );
  });

  it('of version 1: pruned, divided, with parents, with long nodes', () => {
    const made = [marker(node('a'), [], [node('p'), node('q')]), marker(node('b'), [node('c'), node('d')], []), marker(node('e', 32), [node('f', 32)], [node('g', 32)], 2)];
    const { markers } = parseObsoleteMarkers(Buffer.concat([Buffer.from([1]), ...made]));
    assert.deepEqual(
      markers.map(({ precursor, successors, parents }) => ({ precursor, successors, parents })),
      [
        { precursor: node('a'), successors: [], parents: [node('p'), node('q')] },
        { precursor: node('b'), successors: [node('c'), node('d')], parents: [] },
        { precursor: node('e', 32), successors: [node('f', 32)], parents: [node('g', 32)] },
      ],
    );
    assert.deepEqual(markers.map(({ bytes }) => Buffer.from(bytes)), made);
  });

  it('of version 0: parents stand in the metadata', () => {
    const { version, markers } = parseObsoleteMarkers(Buffer.from(`00${OLD}${OLD_PRUNED}`, 'hex'));
    assert.equal(version, 0);
    assert.deepEqual(
      markers.map(({ precursor, successors, parents }) => ({ precursor, successors, parents })),
      [
        { precursor: node('\x8f'), successors: [node('\xe0')], parents: [] },
        { precursor: node('\xbb'), successors: [], parents: [node('\xe0')] },
      ],
    );
    assert.deepEqual(markers.map(({ bytes }) => Buffer.from(bytes).toString('hex')), [OLD, OLD_PRUNED]);
  });

  it('cut short anywhere, or of another version, are an error', () => {
    const isMalformed = (error: unknown): boolean => error instanceof RevconvertError && error.code === 'TEXT_MALFORMED';
    for (const whole of [Buffer.from(`01${AMENDED}`, 'hex'), Buffer.from(`00${OLD}`, 'hex')]) {
      for (let length = 2; length < whole.length; length++) assert.throws(() => parseObsoleteMarkers(whole.subarray(0, length)), isMalformed, String(length));
    }
    assert.throws(() => parseObsoleteMarkers(Buffer.from([2])), isMalformed);
    assert.deepEqual(parseObsoleteMarkers(Buffer.from([1])).markers, []);
  });
});
