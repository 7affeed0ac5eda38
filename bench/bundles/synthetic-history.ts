import { createHash } from 'node:crypto';

import type { ChangegroupRevision } from '../../src/formats/bundle/items.js';
import { createRandom } from '../../test/support/random.js';

/** What a revlog of a made-up history is like. */
export interface RevlogShape {
  /** With what each text begins. */
  readonly head: string;
  /** Bytes of each text behind that. */
  readonly text: number;
  /** Bytes that each revision but the first changes, in so many places. */
  readonly changed: number;
  readonly places: number;
  /** Each revision is a delta against the empty text, as those of changelogs are. */
  readonly whole: boolean;
}

/** As those of medium.hg are, on average: bytes of deltas, and revisions for each changeset. */
export const SHAPES = {
  // The manifest, which is the empty one; user; time; description.
  changelog: { head: `${'0'.repeat(40)}\nsomebody <somebody@example.org>\n0 0\n\n`, text: 288, changed: 288, places: 1, whole: true },
  manifest: { head: '', text: 21_000, changed: 216, places: 3, whole: false },
  filelog: { head: '', text: 12_000, changed: 880, places: 1, whole: false },
} as const satisfies Readonly<Record<string, RevlogShape>>;

export const NULL_NODE = Buffer.alloc(20);

/** Each revision with this number is on a branch beside the one before: its base is the second one before. */
const BRANCH_EVERY = 16;

const POOL_BYTES = 1 << 23;

/** Words, to take texts out of: more than the window of a compressor that would find them again. */
export function createWords(): Buffer {
  const random = createRandom(1);
  const vocabulary = Array.from({ length: 3000 }, () => Array.from({ length: 2 + random(8) }, () => String.fromCharCode(97 + random(26))).join(''));
  const words: string[] = [];
  for (let length = 0; length < POOL_BYTES; length += (words.at(-1)?.length ?? 0) + 1) words.push(vocabulary[Math.min(random(3000), random(3000))] ?? '');
  return Buffer.from(words.join(' '), 'latin1');
}

/**
 * Revisions of one revlog, with right nodes: each text is the one before with some bytes changed.
 * @param count how many
 * @param linkOf the changeset of a revision; undefined: it is its own
 */
export function* makeRevisions(shape: RevlogShape, count: number, seed: number, words: Buffer, linkOf?: (rev: number) => Buffer): Generator<ChangegroupRevision, void, void> {
  const random = createRandom(seed + 1);
  const take = (length: number): Buffer => {
    const at = random(words.length - length);
    return words.subarray(at, at + length);
  };
  // The texts of the last two revisions, by the parity of their numbers; the same of their nodes.
  const head = Buffer.from(shape.head, 'latin1');
  const first = Buffer.concat([head, take(shape.text)]);
  const texts = [first, Buffer.from(first)] as const;
  const nodes: [Buffer, Buffer] = [NULL_NODE, NULL_NODE];
  for (let rev = 0; rev < count; rev++) {
    const [own, other] = rev % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    const isBranch = rev % BRANCH_EVERY === BRANCH_EVERY - 1;
    const text = texts[own];
    const parent = rev === 0 ? NULL_NODE : nodes[isBranch ? own : other];
    if (rev > 0 && !isBranch) texts[other].copy(text);
    const hunks = rev === 0 ? [] : change(text, shape, random, take);
    const isWhole = rev === 0 || shape.whole;
    const node = hashOf(parent, text);
    nodes[own] = node;
    yield { node, p1: parent, p2: NULL_NODE, linkNode: linkOf?.(rev) ?? node, base: isWhole ? NULL_NODE : parent, flags: 0, delta: isWhole ? Buffer.concat([hunkHeader(0, 0, text.length), text]) : Buffer.concat(hunks), offset: -1 };
  }
}

/** Changes a text where it is. @returns the hunks that do it */
function change(text: Buffer, { head, changed, places }: RevlogShape, random: (below: number) => number, take: (length: number) => Buffer): Buffer[] {
  const length = Math.floor(changed / places);
  const region = Math.floor((text.length - head.length) / places);
  const hunks: Buffer[] = [];
  for (let place = 0; place < places; place++) {
    const at = head.length + place * region + random(region - length + 1);
    const bytes = take(length);
    bytes.copy(text, at);
    hunks.push(hunkHeader(at, at + length, length), bytes);
  }
  return hunks;
}

function hunkHeader(from: number, to: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(12);
  header.writeInt32BE(from, 0);
  header.writeInt32BE(to, 4);
  header.writeInt32BE(length, 8);
  return header;
}

/** The null node sorts before each other. */
const hashOf = (p1: Buffer, text: Buffer): Buffer => createHash('sha1').update(NULL_NODE).update(p1).update(text).digest();
