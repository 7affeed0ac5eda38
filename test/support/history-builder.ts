/**
 * Small histories told revision by revision, so that changesets, manifests and files can be made to disagree. What is told
 * without a lie is sound (`hg verify` agrees).
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import type { BuiltRepository, StoredRevision } from './repository-builder.js';
import { buildRepository, buildRevlog, nodeOf, rawChunk, writeAt, writeRevlogFiles } from './repository-builder.js';

/** A revision of a file. */
export interface ToldFileRevision {
  text: string;
  /** Its changeset. */
  link: number;
  /** @default the revision before */
  p1?: number;
  p2?: number;
}

/** A changeset, and its manifest. */
export interface ToldChangeset {
  /** For each file the revision that the manifest names, or 40 digits and a flag. */
  manifest: Record<string, number | string>;
  /** The files that the changeset lists. */
  files: string[];
  /** The text of the manifest, instead of what `manifest` makes. */
  manifestText?: string;
  /** The text of the changeset. */
  text?: string;
  /** The node of its manifest, instead of the true one. */
  manifestNode?: string;
  /** The number of the manifest that it names. @default its own number */
  manifestRev?: number;
  /** Linkrev of the manifest. @default its own number */
  manifestLink?: number;
  /** Linkrev of the changeset. @default its own number */
  link?: number;
}

export interface ToldHistory {
  files: Record<string, ToldFileRevision[]>;
  changesets: ToldChangeset[];
}

/** Revisions by the name of their revlog, before they are written. */
export type ToldRevlogs = Record<string, StoredRevision[]>;

/** Three changesets, two files. Tests change it before it is written. */
export const soundHistory = (): ToldHistory => ({
  files: {
    a: [
      { text: 'a0\n', link: 0 },
      { text: 'a1\n', link: 1 },
      { text: 'a2\n', link: 2 },
    ],
    'd/b': [
      { text: 'b0\n', link: 0 },
      { text: 'b1\n', link: 2 },
    ],
  },
  changesets: [
    { manifest: { 'a': 0, 'd/b': 0 }, files: ['a', 'd/b'] },
    { manifest: { 'a': 1, 'd/b': 0 }, files: ['a'] },
    { manifest: { 'a': 2, 'd/b': 1 }, files: ['a', 'd/b'] },
  ],
});

const NULL_NODE = Buffer.alloc(20);

interface Told {
  readonly text: string;
  readonly link: number;
  readonly p1?: number | undefined;
  readonly p2?: number | undefined;
}

/** A stored revision with its text in full. */
export function storeFull(rev: number, { text, link, p1 = rev - 1, p2 = -1 }: Told, earlier: readonly StoredRevision[]): StoredRevision {
  const raw = Buffer.from(text, 'latin1');
  const node = nodeOf(raw, earlier[p1]?.node ?? NULL_NODE, earlier[p2]?.node ?? NULL_NODE);
  return { chunk: rawChunk(raw), rawSize: raw.length, base: rev, linkRev: link, p1, p2, node };
}

function storeAll(told: readonly Told[]): StoredRevision[] {
  const revisions: StoredRevision[] = [];
  for (const [rev, one] of told.entries()) revisions.push(storeFull(rev, one, revisions));
  return revisions;
}

const hexOf = (revisions: readonly StoredRevision[] | undefined, rev: number): string => (revisions?.[rev]?.node ?? NULL_NODE).toString('hex');

/** The revisions of every revlog of a history. */
export function storeHistory({ files, changesets }: ToldHistory): ToldRevlogs {
  const filelogs = new Map(Object.entries(files).map(([path, revisions]) => [path, storeAll(revisions)]));
  const manifestText = ({ manifest, manifestText: given }: ToldChangeset): string =>
    given ??
    Object.entries(manifest)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, rev]) => `${path}\0${typeof rev === 'string' ? rev : hexOf(filelogs.get(path), rev)}\n`)
      .join('');
  const manifests = storeAll(changesets.map((one, rev) => ({ text: manifestText(one), link: one.manifestLink ?? rev })));
  const changelog = storeAll(
    changesets.map((one, rev) => {
      const node = one.manifestNode ?? hexOf(manifests, one.manifestRev ?? rev);
      const lines = [node, 'a <a@example.org>', `${rev} 0`, ...one.files, '', `commit ${rev}`];
      return { text: one.text ?? lines.join('\n'), link: one.link ?? rev };
    }),
  );
  return { '00changelog.i': changelog, '00manifest.i': manifests, ...Object.fromEntries([...filelogs].map(([path, revisions]) => [`data/${path}.i`, revisions])) };
}

/** Writes revlogs as a repository of today's layout, inline; the store lists those below `data` and `meta`. */
export function writeHistory(root: string, revlogs: ToldRevlogs, requirements: readonly string[] = []): BuiltRepository {
  const repository = buildRepository(root, { commits: 1, files: [], requirements });
  rmSync(join(repository.store, 'data'), { recursive: true, force: true });
  for (const [name, revisions] of Object.entries(revlogs)) {
    writeRevlogFiles(repository.store, name, buildRevlog(revisions, 'inline', name !== '00changelog.i'));
  }
  const listed = Object.keys(revlogs).filter((name) => name.includes('/'));
  writeAt(join(repository.store, 'fncache'), listed.map((name) => `${name}\n`).join(''));
  return repository;
}
