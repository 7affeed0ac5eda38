import { existsSync } from 'node:fs';

import { asBuffer } from '../../formats/bytes.js';
import { ENTRY_SIZE, NODE_AT, NODE_BYTES, RevlogIndex } from '../../formats/revlog-index.js';
import type { Repository } from '../../repository/open.js';
import { shareBytes } from '../../repository/shared-memory.js';
import { openRevlog } from '../../streams/read-revlog.js';

/** The changesets of a repository by number and by node, as the index has them. */
export class ChangesetNodes {
  readonly #table: Buffer;
  #revs: Map<string, number> | undefined;

  constructor(private readonly index: RevlogIndex) {
    this.#table = asBuffer(index.table);
  }

  get length(): number {
    return this.index.length;
  }

  /** 20 bytes, one character each. */
  nodeOf(rev: number): string {
    const at = rev * ENTRY_SIZE + NODE_AT;
    return this.#table.toString('latin1', at, at + NODE_BYTES);
  }

  /** The number of a changeset; undefined: there is none of this node. */
  revOf(node: string): number | undefined {
    this.#revs ??= new Map(Array.from({ length: this.length }, (_, rev) => [this.nodeOf(rev), rev]));
    return this.#revs.get(node);
  }

  parentsOf(rev: number): readonly [number, number] {
    return [this.index.p1(rev), this.index.p2(rev)];
  }
}

/**
 * Reads the index of the changelog; it is empty where there is none.
 * @returns its table in shared memory
 * @throws RevconvertError as openRevlog
 */
export function readChangelogIndex({ storeFolder }: Pick<Repository, 'storeFolder'>): RevlogIndex {
  const indexFile = `${storeFolder}/00changelog.i`;
  if (!existsSync(indexFile)) return new RevlogIndex({ version: 1, inline: false, generaldelta: false, filelogMeta: false, deltaInfo: false }, new Uint8Array(0));
  const reader = openRevlog({ indexFile, dataFile: `${storeFolder}/00changelog.d`, path: '00changelog.i', kind: 'changelog' });
  reader.close();
  return new RevlogIndex(reader.index.header, shareBytes(reader.index.table));
}
