import { RevconvertError } from '../../errors.js';
import { CHUNK_HEADER, encodeRevisionHeader, hasTreeGroups } from '../../formats/bundle/changegroup.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { Group, GroupChunks, RevisionGroupBatch } from '../../formats/bundle/items.js';
import type { PayloadWriter } from './payload-writer.js';

/** The sections of a changegroup, in their order. */
type Section = 'changelog' | 'manifest' | 'directories' | 'files';

/** An empty chunk: the end of a group, or of the groups of a section. */
const EMPTY_CHUNK = Buffer.alloc(CHUNK_HEADER);

/** Writes a changegroup; groups that are missing where each must be are written empty. */
export class ChangegroupWriter {
  readonly #sections: readonly Section[];
  /** The section that is being written; -1: none yet. */
  #section = -1;
  /** A group with a name, which ends before its section does. */
  #groupOpen = false;

  constructor(
    private readonly payload: PayloadWriter,
    private readonly version: WrittenVersion,
  ) {
    this.#sections = hasTreeGroups(version) ? ['changelog', 'manifest', 'directories', 'files'] : ['changelog', 'manifest', 'files'];
  }

  /** @throws RevconvertError INTERNAL where groups are in no order that can be written */
  group(group: Group): void {
    this.#goTo(this.#sections.indexOf(sectionOf(group)), group);
    if (group.name === '') return;
    this.#groupOpen = true;
    const name = Buffer.from(group.name, 'latin1');
    this.payload.write(lengthOf(name.length));
    this.payload.write(name);
  }

  /** @throws RevconvertError INTERNAL where they are of another version */
  chunks({ version, bytes }: GroupChunks): void {
    if (version !== this.version) throw new RevconvertError('INTERNAL', `chunks of changegroup version ${version} in one of version ${this.version}`);
    for (const piece of bytes) this.payload.write(piece);
  }

  revisions({ revisions }: RevisionGroupBatch): void {
    for (const revision of revisions) {
      this.payload.write(encodeRevisionHeader(revision, this.version));
      this.payload.write(revision.delta);
    }
  }

  end(): void {
    this.#goTo(this.#sections.length);
  }

  #closeGroup(): void {
    if (this.#groupOpen) this.payload.write(EMPTY_CHUNK);
    this.#groupOpen = false;
  }

  #goTo(section: number, group?: Group): void {
    this.#closeGroup();
    if (section < 0 || section < this.#section || (section === this.#section && group?.name === '')) throw new RevconvertError('INTERNAL', `a group of section ${this.#sections[section] ?? ''} behind section ${this.#sections[this.#section] ?? ''}`);
    while (this.#section < section) {
      if (this.#section >= 0) this.payload.write(EMPTY_CHUNK);
      this.#section++;
    }
  }
}

function sectionOf({ kind, name }: Group): Section {
  if (kind === 'filelog') return 'files';
  return name === '' ? (kind === 'changelog' ? 'changelog' : 'manifest') : 'directories';
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.allocUnsafe(CHUNK_HEADER);
  length.writeInt32BE(CHUNK_HEADER + bytes);
  return length;
}
