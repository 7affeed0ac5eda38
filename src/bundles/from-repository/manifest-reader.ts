import { createTextCache } from '../../delta/text-cache.js';
import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { HEX_NODE } from '../../formats/hex-node.js';
import type { RevlogSource } from '../../repository/discover.js';
import { revlogFiles } from '../../repository/revlog-files.js';
import type { RevlogReader } from '../../streams/read-revlog.js';
import { openRevlog } from '../../streams/read-revlog.js';
import { NodeNumbers } from './node-numbers.js';
import { createTextReader } from './rebase.js';

/** An entry of a manifest. */
export interface ManifestEntry {
  /** 20 bytes, one character each. */
  readonly node: string;
  readonly isFolder: boolean;
}

/** Looks up entries in one manifest, or that of one folder. */
export interface ManifestReader {
  /**
   * @param node of a revision of the manifest
   * @param name as it stands in it
   * @returns undefined where there is no such revision, or no such entry
   */
  find(node: string, name: string): Promise<ManifestEntry | undefined>;
  close(): void;
}

/** @throws RevconvertError as openRevlog; by `find`: as readChain */
export function openManifest(source: RevlogSource, storeFolder: string, decoders: ChunkDecoders): ManifestReader {
  const reader: RevlogReader = openRevlog(revlogFiles(source, storeFolder));
  const numbers = new NodeNumbers(reader.index);
  const textOf = createTextReader(reader.origin, { decoders, texts: createTextCache() });
  return {
    async find(node, name) {
      const rev = numbers.revOf(node);
      return rev === undefined ? undefined : findEntry(await textOf(rev), name);
    },
    close: () => reader.close(),
  };
}

const FOLDER = 't'.charCodeAt(0);

function findEntry(text: Buffer, name: string): ManifestEntry | undefined {
  const path = Buffer.from(`\n${name}\0`, 'latin1');
  const isFirst = text.subarray(0, path.length - 1).equals(path.subarray(1));
  const found = isFirst ? -1 : text.indexOf(path);
  if (found < 0 && !isFirst) return undefined;
  const at = found + path.length;
  return { node: hexToNode(text.toString('latin1', at, at + HEX_NODE)), isFolder: text[at + HEX_NODE] === FOLDER };
}

/** 40 digits as 20 bytes, one character each. */
export const hexToNode = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1');
