import { loadDecoders } from '../../src/engines/chunk-codec.js';
import type { Dictionary } from '../../src/engines/engine.js';
import { ruleFor, suffixOf } from '../../src/formats/dictionary-index.js';
import type { Revision, RevisionBatch } from '../../src/formats/record.js';
import { below, displayName } from '../../src/repository/byte-path.js';
import type { DictionarySet } from '../../src/repository/dictionaries/folder.js';
import { readDictionaries } from '../../src/repository/dictionaries/folder.js';
import { filePathOf } from '../../src/repository/dictionaries/groups.js';
import type { RevlogSource } from '../../src/repository/discover.js';
import { discoverRevlogs } from '../../src/repository/discover.js';
import { openRepository } from '../../src/repository/open.js';
import { openRevlog } from '../../src/streams/read-revlog.js';
import { createDecompressStage } from '../../src/transforms/decompress.js';

/** A batch whose deltas are in memory, not empty. */
export interface LoadedBatch extends RevisionBatch {
  readonly deltas: readonly Uint8Array[];
}

/** A store with every chunk decompressed, in memory. */
export interface LoadedStore {
  readonly storeFolder: string;
  readonly revlogs: readonly RevlogSource[];
  readonly batches: readonly LoadedBatch[];
}

/** Reads all of a store that has no dictionaries. Chunks without bytes are left out: nothing is compressed there. */
export async function loadStore(repository: string): Promise<LoadedStore> {
  const opened = openRepository(repository);
  const { revlogs } = discoverRevlogs(opened);
  const { storeFolder } = opened;
  const batches: LoadedBatch[] = [];
  const decoders = await loadDecoders();
  for (const { name, kind, indexPath, dataPath } of revlogs) {
    const reader = openRevlog({ indexFile: below(storeFolder, indexPath), dataFile: below(storeFolder, dataPath), path: displayName(name), kind });
    const decompress = createDecompressStage(decoders);
    for (const batch of reader.batches()) batches.push(withDeltas(await decompress(batch)));
    reader.close();
  }
  return { storeFolder, revlogs, batches };
}

function withDeltas(batch: RevisionBatch): LoadedBatch {
  const revisions = batch.revisions.filter(({ delta }) => delta !== undefined && delta.length > 0);
  return { path: batch.path, kind: batch.kind, revisions, deltas: revisions.map(({ delta }) => delta ?? new Uint8Array(0)) };
}

/** Those revisions of batches that fulfil a condition. */
export function filterRevisions(batches: readonly LoadedBatch[], isWanted: (revision: Revision) => boolean): LoadedBatch[] {
  return batches.map((batch) => withDeltas({ ...batch, revisions: batch.revisions.filter(isWanted) })).filter(({ revisions }) => revisions.length > 0);
}

/** Bytes of the deltas of batches. */
export const deltaBytes = (batches: readonly LoadedBatch[]): number => batches.reduce((sum, { deltas }) => deltas.reduce((total, { length }) => total + length, sum), 0);

export const countChunks = (batches: readonly LoadedBatch[]): number => batches.reduce((sum, { deltas }) => sum + deltas.length, 0);

/** The dictionary of a batch; undefined: none. */
export type Choice = (batch: RevisionBatch) => Dictionary | undefined;

export const readSet = (repository: string): DictionarySet => readDictionaries(openRepository(repository));

/** The choice that a store's own rules make. */
export function choiceOf({ dictionaries, write }: DictionarySet): Choice {
  const byId = new Map(dictionaries.map((dictionary) => [dictionary.id, dictionary]));
  return ({ kind, path }) => byId.get(ruleFor(write, kind, filePathOf(path)));
}

/** Batches that share a dictionary, or do without one. */
export interface Group {
  /** The kind, or the suffix of files. */
  readonly name: string;
  readonly batches: readonly LoadedBatch[];
}

/** Cuts batches into groups by what the rules of a store say: the largest first. */
export function groupBatches(batches: readonly LoadedBatch[], { write }: DictionarySet): Group[] {
  const groups = new Map<string, LoadedBatch[]>();
  for (const batch of batches) {
    const suffix = batch.kind === 'filelog' ? suffixOf(filePathOf(batch.path)) : undefined;
    const name = suffix !== undefined && write.suffixes.has(suffix) ? suffix : batch.kind;
    const own = groups.get(name);
    if (own === undefined) groups.set(name, [batch]);
    else own.push(batch);
  }
  return [...groups].map(([name, own]) => ({ name, batches: own })).sort((a, b) => deltaBytes(b.batches) - deltaBytes(a.batches));
}
