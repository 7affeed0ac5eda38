import { encodeRevisionHeader } from '../../src/formats/bundle/changegroup.js';
import { encodePartHeader } from '../../src/formats/bundle/part-header.js';
import type { RevlogShape } from './synthetic-history.js';
import { createWords, makeRevisions, SHAPES } from './synthetic-history.js';

/** As Mercurial's. */
const FRAME_BYTES = 1 << 15;

/** Of uncompressed bundle, for each changeset: what medium.hg has. */
const BYTES_PER_CHANGESET = 3850;

const REVISIONS_PER_FILE = 26;

const NODE = 20;

/**
 * An uncompressed bundle 2 with a changegroup 02 of a made-up history, as it is made: nothing is held but the nodes of the
 * changesets. Nodes are right, and so are files; changesets name no manifest, and manifests hold words.
 * @param bytes as long as it should be, or up to a file longer
 */
export function* makeBundle(bytes: number): Generator<Buffer, void, void> {
  const changesets = Math.max(1, Math.floor(bytes / BYTES_PER_CHANGESET));
  const header = encodePartHeader({ type: 'changegroup', id: 0, mandatory: true, mandatoryParameters: [{ name: 'version', value: '02' }], advisoryParameters: [{ name: 'nbchanges', value: String(changesets) }] });
  yield Buffer.concat([Buffer.from('HG20'), i32(0), i32(header.length), header]);
  yield* inFrames(makeChangegroup(bytes, changesets));
  yield i32(0);
}

/** The pieces of a changegroup. */
function* makeChangegroup(bytes: number, changesets: number): Generator<Buffer, void, void> {
  const words = createWords();
  const nodes = Buffer.alloc(changesets * NODE);
  const linkOf = (rev: number): Buffer => nodes.subarray((rev % changesets) * NODE, ((rev % changesets) + 1) * NODE);
  let made = 0;
  function* makeGroup(shape: RevlogShape, count: number, seed: number, link?: (rev: number) => Buffer): Generator<Buffer, void, void> {
    let rev = 0;
    for (const revision of makeRevisions(shape, count, seed, words, link)) {
      if (link === undefined) nodes.set(revision.node, rev * NODE);
      rev++;
      const head = encodeRevisionHeader(revision, '02');
      made += head.length + revision.delta.length;
      yield head;
      yield Buffer.from(revision.delta.buffer, revision.delta.byteOffset, revision.delta.length);
    }
    yield i32(0);
  }
  yield* makeGroup(SHAPES.changelog, changesets, 1);
  yield* makeGroup(SHAPES.manifest, changesets, 2, linkOf);
  for (let file = 0; made < bytes; file++) {
    const serial = String(file).padStart(7, '0');
    const name = Buffer.from(`folder-${serial.slice(0, 5)}/file-${serial}.txt`);
    yield Buffer.concat([i32(4 + name.length), name]);
    yield* makeGroup(SHAPES.filelog, REVISIONS_PER_FILE, 3 + file, (rev) => linkOf(file * REVISIONS_PER_FILE + rev));
  }
  yield i32(0);
}

/** A payload: frames, each with its length, and an empty one. */
function* inFrames(pieces: Iterable<Buffer>): Generator<Buffer, void, void> {
  let held: Buffer[] = [];
  let length = 0;
  for (const piece of pieces) {
    held.push(piece);
    length += piece.length;
    if (length < FRAME_BYTES) continue;
    yield Buffer.concat([i32(length), ...held]);
    held = [];
    length = 0;
  }
  yield length > 0 ? Buffer.concat([i32(length), ...held, i32(0)]) : i32(0);
}

function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
