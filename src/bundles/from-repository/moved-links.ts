import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import type { RevlogIndex } from '../../formats/revlog-index.js';
import type { RevlogSource } from '../../repository/discover.js';
import type { Repository } from '../../repository/open.js';
import { revlogFiles } from '../../repository/revlog-files.js';
import { openRevlog } from '../../streams/read-revlog.js';
import { Turns } from '../../streams/turns.js';
import type { ChangesetNames } from './changeset-texts.js';
import { readChangesets } from './changeset-texts.js';
import type { OrderedRevlog } from './group-order.js';
import type { ManifestReader } from './manifest-reader.js';
import { openManifest } from './manifest-reader.js';
import { NodeNumbers } from './node-numbers.js';

/** Revisions of a revlog that a hidden changeset brought, by their nodes; and who brings them now. */
class Orphans {
  readonly #revs = new Map<string, number>();
  readonly #links = new Map<number, number>();

  constructor(index: RevlogIndex, revs: readonly number[]) {
    const numbers = new NodeNumbers(index);
    for (const rev of revs) this.#revs.set(numbers.nodeOf(rev), rev);
  }

  /** A changeset has a revision; the first counts. */
  take(node: string, changeset: number): void {
    const rev = this.#revs.get(node);
    if (rev !== undefined && !this.#links.has(rev)) this.#links.set(rev, changeset);
  }

  /** Pairs of a revision and the changeset. */
  get pairs(): Int32Array {
    return Int32Array.from([...this.#links].flat());
  }
}

export interface MovedLinksOptions {
  readonly repository: Repository;
  readonly revlogs: readonly OrderedRevlog[];
  /** For each changeset whether it is hidden. */
  readonly hidden: Uint8Array;
  /** The last changeset that matters. */
  readonly last: number;
  readonly decoders: ChunkDecoders;
  readonly signal: AbortSignal | undefined;
}

/**
 * Finds who else has what a hidden changeset brought: a changeset that was amended, say, whose files are those of its
 * forerunner. It is the first visible one that names the manifest, or lists the file and has that revision in its manifest.
 * @returns pairs of a revision and its changeset, for each revlog that has any; what nobody has is not among them
 * @throws RevconvertError damage of what has to be read; CANCELLED
 */
export async function findMovedLinks({ repository, revlogs, hidden, last, decoders, signal }: MovedLinksOptions): Promise<ReadonlyMap<RevlogSource, Int32Array>> {
  const orphans = new Map<RevlogSource, Orphans>();
  for (const { revlog } of revlogs) {
    const found = findOrphans(revlog, repository, hidden);
    if (found !== undefined) orphans.set(revlog, found);
  }
  if (orphans.size === 0) return new Map();
  const search = new LinkSearch(repository, revlogs, orphans, decoders);
  try {
    const turns = new Turns(signal);
    for await (const changeset of readChangesets(repository, last + 1, decoders)) {
      if (hidden[changeset.rev] !== 1) await search.look(changeset);
      if (turns.due) await turns.give();
    }
  } finally {
    search.close();
  }
  return new Map([...orphans].map(([revlog, found]) => [revlog, found.pairs]));
}

function findOrphans(revlog: RevlogSource, { storeFolder }: Repository, hidden: Uint8Array): Orphans | undefined {
  if (revlog.kind === 'changelog') return undefined;
  const reader = openRevlog(revlogFiles(revlog, storeFolder));
  reader.close();
  const { index } = reader;
  const revs: number[] = [];
  for (let rev = 0; rev < index.length; rev++) if (hidden[index.linkRev(rev)] === 1) revs.push(rev);
  return revs.length === 0 ? undefined : new Orphans(index, revs);
}

class LinkSearch {
  /** Manifests by their folder: '' or `dir/`. */
  readonly #manifests = new Map<string, RevlogSource>();
  readonly #folders = new Map<string, Orphans>();
  readonly #files = new Map<string, Orphans>();
  readonly #readers = new Map<string, ManifestReader>();

  constructor(
    private readonly repository: Repository,
    revlogs: readonly OrderedRevlog[],
    orphans: ReadonlyMap<RevlogSource, Orphans>,
    private readonly decoders: ChunkDecoders,
  ) {
    for (const { revlog, group } of revlogs) {
      if (group.kind === 'manifest') this.#manifests.set(group.name, revlog);
      const found = orphans.get(revlog);
      if (found !== undefined) (group.kind === 'manifest' ? this.#folders : this.#files).set(group.name, found);
    }
  }

  async look({ rev, manifest, files }: ChangesetNames): Promise<void> {
    if (manifest === undefined) return;
    this.#folders.get('')?.take(manifest, rev);
    for (const path of files) if (this.#matters(path)) await this.#follow(rev, manifest, path);
  }

  close(): void {
    for (const reader of this.#readers.values()) reader.close();
  }

  /** Whether anything is wanted on the way to a file. */
  #matters(path: string): boolean {
    return this.#files.has(path) || foldersOf(path).some((folder) => this.#folders.has(folder));
  }

  /** Follows a path from the root manifest, through those of folders where it is a tree. */
  async #follow(changeset: number, manifest: string, path: string): Promise<void> {
    const whole = await this.#find('', manifest, path);
    if (whole !== undefined) {
      this.#files.get(path)?.take(whole.node, changeset);
      return;
    }
    let node = manifest;
    let above = '';
    for (const folder of foldersOf(path)) {
      const entry = await this.#find(above, node, folder.slice(above.length, -1));
      if (entry?.isFolder !== true) return;
      this.#folders.get(folder)?.take(entry.node, changeset);
      ({ node } = entry);
      above = folder;
    }
    const file = await this.#find(above, node, path.slice(above.length));
    if (file !== undefined) this.#files.get(path)?.take(file.node, changeset);
  }

  async #find(folder: string, node: string, name: string): ReturnType<ManifestReader['find']> {
    const source = this.#manifests.get(folder);
    if (source === undefined) return undefined;
    const known = this.#readers.get(folder) ?? openManifest(source, this.repository.storeFolder, this.decoders);
    this.#readers.set(folder, known);
    return known.find(node, name);
  }
}

/** The folders that a path lies in, the outermost first, each with `/` at its end. */
const foldersOf = (path: string): string[] => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1));
