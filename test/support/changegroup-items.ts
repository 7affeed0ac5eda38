/** Items of changegroups made by hand, and read by hand: nothing of src is used but types. */
import type { BundleItem, ChangegroupRevision, Group, GroupStart, RevisionGroupBatch } from '../../src/formats/bundle/items.js';
import type { PartHeader } from '../../src/formats/bundle/part-header.js';
import type { BundleItems, BundleStage } from '../../src/streams/bundle/stage.js';
import { hunk, nodeOf, NULL } from './bundle-builder.js';

/** A revision to be made; others of the group are named by their place in it. */
export interface MadeRevision {
  readonly text: string | Buffer;
  /** Place of a parent; a node: one from outside. @default none */
  readonly p1?: number | Buffer;
  readonly p2?: number | Buffer;
  /** What the delta is against. @default the empty text */
  readonly base?: number | Buffer;
  /** @default the node itself */
  readonly link?: Buffer;
  readonly flags?: number;
  /** @default one hunk that replaces the whole text */
  readonly delta?: Buffer;
  /** @default what parents and text hash to */
  readonly node?: Buffer;
  readonly sidedata?: Buffer;
}

export const CHANGELOG: Group = { kind: 'changelog', name: '' };
export const MANIFEST: Group = { kind: 'manifest', name: '' };
export const file = (name: string): Group => ({ kind: 'filelog', name });

/** Revisions of a group. Their offsets are 1000, 1001 and so on. */
export function makeRevisions(made: readonly MadeRevision[]): ChangegroupRevision[] {
  const revisions: ChangegroupRevision[] = [];
  const at = (place: number | Buffer | undefined): Buffer => (typeof place === 'number' ? Buffer.from(revisions[place]?.node ?? NULL) : (place ?? NULL));
  for (const [i, one] of made.entries()) {
    const text = Buffer.from(one.text);
    const [p1, p2, base] = [at(one.p1), at(one.p2), at(one.base)];
    const baseText = Buffer.from((typeof one.base === 'number' ? made[one.base]?.text : '') ?? '');
    const node = one.node ?? nodeOf(p1, p2, text);
    const { flags = 0, link = node, sidedata } = one;
    revisions.push({ node, p1, p2, base, linkNode: link, flags, delta: one.delta ?? hunk(0, baseText.length, text), offset: 1000 + i, ...(sidedata === undefined ? {} : { sidedata }) });
  }
  return revisions;
}

export const groupItems = (group: Group, revisions: ChangegroupRevision[]): [GroupStart, RevisionGroupBatch] => [
  { type: 'group', group },
  { type: 'revisions', group, revisions },
];

export const changegroupPart = (version: string, advisory: PartHeader['advisoryParameters'] = []): PartHeader => ({
  type: 'changegroup',
  id: 0,
  mandatory: true,
  mandatoryParameters: [{ name: 'version', value: version }],
  advisoryParameters: advisory,
});

/** A bundle of one changegroup. */
export const bundleItems = (part: PartHeader, groups: readonly BundleItem[]): BundleItem[] => [
  { type: 'bundle', container: 'HG20', compression: 'none', parameters: [] },
  { type: 'part', part, interrupts: false },
  ...groups,
  { type: 'part-end' },
  { type: 'end' },
];

/** Items one by one through a stage. */
export function runStage(stage: BundleStage, items: readonly BundleItem[]): BundleItem[] {
  return items.flatMap((item) => {
    const made = stage(item);
    if (made instanceof Promise) throw new Error('the stage must answer at once');
    return made;
  });
}

export const portions = (items: readonly BundleItem[]): BundleItems => {
  const each = async function* (): AsyncGenerator<readonly BundleItem[], void, void> {
    for (const item of items) yield Promise.resolve([item]);
  };
  return each();
};

/** All revisions of a group, in order. */
export const revisionsOf = (items: readonly BundleItem[], { kind, name }: Group): ChangegroupRevision[] =>
  items.flatMap((item) => (item.type === 'revisions' && item.group.kind === kind && item.group.name === name ? item.revisions : []));

/** Applies hunks, one after the other, as the format says. */
export function patch(base: Uint8Array, delta: Uint8Array): Buffer {
  const [from, hunks] = [Buffer.from(base), Buffer.from(delta)];
  const pieces: Buffer[] = [];
  let covered = 0;
  for (let at = 0; at < hunks.length; ) {
    const [start, end, length] = [hunks.readInt32BE(at), hunks.readInt32BE(at + 4), hunks.readInt32BE(at + 8)];
    pieces.push(from.subarray(covered, start), hunks.subarray(at + 12, at + 12 + length));
    covered = end;
    at += 12 + length;
  }
  return Buffer.concat([...pieces, from.subarray(covered)]);
}

/** The texts of a group by node, read from its deltas alone; a base that did not come before is an error. */
export function readTexts(revisions: readonly ChangegroupRevision[]): Map<string, Buffer> {
  const texts = new Map<string, Buffer>([[NULL.toString('hex'), Buffer.alloc(0)]]);
  for (const { node, base, delta } of revisions) {
    const from = texts.get(Buffer.from(base).toString('hex'));
    if (from === undefined) throw new Error('a base that did not come before');
    texts.set(Buffer.from(node).toString('hex'), patch(from, delta));
  }
  return texts;
}
