/** Shared by the tests of conversions with dictionaries. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';

import type { Dictionaries } from '../../../src/engines/engine.js';
import { decompress, readRevlog, type RevisionBatch, verifyRepository } from '../../../src/index.js';
import { DICTIONARY_REQUIREMENT } from '../../support/dictionary-files.js';
import { countFrames } from '../../support/dictionary-repository.js';
import { meaningOf, type ReadRevision } from '../support.js';

export const storeOf = (root: string): string => join(root, '.hg', 'store');
export const dictionaryFolder = (root: string): string => join(storeOf(root), 'revlog-dictionaries');

/** The dictionaries that lie in a store, by the names of their files. */
export function dictionariesAt(root: string): Dictionaries {
  const folder = dictionaryFolder(root);
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder).filter((name) => name.endsWith('.zdict'));
  return new Map(names.map((name) => [Number.parseInt(name, 10), { id: Number.parseInt(name, 10), bytes: readFileSync(join(folder, name)) }]));
}

/** The requirements of a repository, those of its store among them. */
export const requirementsOf = (root: string): string[] =>
  ['requires', 'store/requires']
    .map((name) => join(root, '.hg', name))
    .filter((path) => existsSync(path))
    .flatMap((path) => readFileSync(path, 'utf8').trim().split('\n'));

interface Index {
  readonly dictionaries: readonly { readonly id: number; readonly kind: string; readonly bytes: number }[];
  readonly write: Readonly<Record<string, unknown>>;
}

export const indexOf = (root: string): Index => JSON.parse(readFileSync(join(dictionaryFolder(root), 'index.json'), 'utf8')) as Index;

export const revlogNames = (root: string): string[] =>
  readdirSync(storeOf(root), { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(sep).join('/'))
    .filter((name) => /^(?:00|data\/|meta\/).*\.i$/.test(name))
    .sort();

/** Every revision of every revlog, decoded with the dictionaries of the store. */
export async function readStore(root: string, tolerant = false): Promise<Record<string, ReadRevision[]>> {
  const found: Record<string, ReadRevision[]> = {};
  const dictionaries = dictionariesAt(root);
  for (const name of revlogNames(root)) {
    const indexFile = join(storeOf(root), name);
    const revisions: ReadRevision[] = [];
    const onDamage = tolerant ? (): void => undefined : undefined;
    await pipeline(readRevlog({ indexFile, dataFile: `${indexFile.slice(0, -1)}d`, onDamage }), decompress({ dictionaries, onDamage }), async (batches: AsyncIterable<RevisionBatch>) => {
      for await (const { revisions: some } of batches) revisions.push(...some);
    });
    found[name] = revisions;
  }
  return found;
}

/** What must not change: everything but how chunks are compressed. */
export const meaningOfStore = async (root: string): Promise<Record<string, unknown[]>> =>
  Object.fromEntries(Object.entries(await readStore(root)).map(([name, revisions]) => [name, meaningOf(revisions)]));

/** All chunks of a store as they are stored. */
export const chunksOfStore = async (root: string, tolerant = false): Promise<Record<string, string[]>> =>
  Object.fromEntries(Object.entries(await readStore(root, tolerant)).map(([name, revisions]) => [name, revisions.map(({ chunk }) => Buffer.from(chunk).toString('hex'))]));

/** The IDs that chunks of a store name, 0 among them where some name none. */
export const idsIn = (root: string): number[] => [...new Set(Object.keys(countFrames(root)).map((key) => Number(key.split(' ')[1])))].sort((a, b) => a - b);

/** The store is sound, needs all that it says, and its index tells the truth. */
export async function assertSoundWithDictionaries(root: string): Promise<void> {
  assert.ok(requirementsOf(root).includes(DICTIONARY_REQUIREMENT));
  assert.ok(requirementsOf(root).includes('revlog-compression-zstd'));
  assert.deepEqual(indexOf(root).dictionaries.map(({ id }) => id), [...dictionariesAt(root).keys()].sort((a, b) => a - b));
  await assertVerified(root);
}

/** Nothing in it has to do with dictionaries. */
export async function assertPlain(root: string): Promise<void> {
  assert.ok(!requirementsOf(root).includes(DICTIONARY_REQUIREMENT));
  assert.ok(!existsSync(dictionaryFolder(root)));
  assert.deepEqual(idsIn(root).filter((id) => id !== 0), []);
  await assertVerified(root);
}

export async function assertVerified(root: string): Promise<void> {
  const { damage } = await verifyRepository(root, { jobs: 1 });
  assert.deepEqual(damage, []);
}
