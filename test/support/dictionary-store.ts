/** Stores with dictionaries, byte by byte: neither Mercurial nor the `zstd` program is needed. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

import type { BuiltRepository, RepositoryOptions } from './repository-builder.js';
import { buildRepository, rawChunk, writeAt } from './repository-builder.js';

export const DICTIONARY_FOLDER = 'revlog-dictionaries';

const REQUIREMENTS = ['exp-revlog-zstd-dictionary.1', 'revlog-compression-zstd'];

/** What looks like a dictionary from outside: magic number, ID, and bytes that mean nothing. */
export function dictionaryLike(id: number, bytes = 300): Buffer {
  const dictionary = Buffer.alloc(bytes, id);
  dictionary.writeUInt32LE(0xec30a437, 0);
  dictionary.writeUInt32LE(id, 4);
  return dictionary;
}

/** A frame that names a dictionary, in as many bytes as its ID takes or more, and holds a raw block. */
export function frameWith(id: number, data: Buffer, idBytes: 1 | 2 | 4 = 1): Buffer {
  const flag = { 1: 1, 2: 2, 4: 3 }[idBytes];
  // Not a single segment: a window descriptor comes first.
  const header = Buffer.alloc(6 + idBytes + 3);
  header.writeUInt32LE(0xfd2fb528, 0);
  header.writeUInt8(flag, 4);
  header.writeUInt8(0x58, 5);
  header.writeUIntLE(id, 6, idBytes);
  header.writeUIntLE((data.length << 3) | 1, 6 + idBytes, 3);
  return Buffer.concat([header, data]);
}

export interface ListedDictionary {
  readonly id: number;
  readonly kind: string;
  /** @default one that looks like a dictionary */
  readonly content?: Buffer;
}

export interface DictionaryStoreOptions extends RepositoryOptions {
  readonly dictionaries: readonly ListedDictionary[];
  readonly write?: object;
}

/** Where a dictionary of a repository lies. */
export const dictionaryFile = (root: string, id: number): string => join(root, '.hg', 'store', DICTIONARY_FOLDER, `${id}.zdict`);

/** Builds a repository whose store lists dictionaries. Its chunks are what `compress` makes of them. */
export function buildDictionaryStore(root: string, { dictionaries, write = {}, ...options }: DictionaryStoreOptions): BuiltRepository {
  const built = buildRepository(root, { compress: rawChunk, ...options, requirements: REQUIREMENTS });
  const entries = dictionaries.map(({ id, kind, content = dictionaryLike(id) }) => {
    writeAt(dictionaryFile(root, id), content);
    return { id, kind, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
  });
  writeAt(built.inStore(`${DICTIONARY_FOLDER}/index.json`), JSON.stringify({ version: 1, dictionaries: entries, write }));
  return built;
}
