import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { COMMAND } from '../cases.js';
import { measure } from '../measure.js';
import type { Mercurial } from '../published/workspace.js';
import { createTemporaryFolder, findMercurial, unbundle } from '../published/workspace.js';
import { dictionaryBytes, storeBytes } from '../store-bytes.js';
import type { LoadedStore } from './store.js';
import { loadStore } from './store.js';

/** The histories, by the names of their bundles. */
export const HISTORIES = [
  { name: 'small', title: 'small, Latin' },
  { name: 'small-cyrillic', title: 'small, Cyrillic' },
  { name: 'small-han', title: 'small, Han' },
  { name: 'medium', title: 'medium, Latin' },
] as const;

export type HistoryName = (typeof HISTORIES)[number]['name'];

export const bundleOf = (data: string, name: HistoryName): string => join(data, `${name}.hg`);

/** What a conversion made. */
export interface Converted {
  readonly folder: string;
  /** Bytes of index and data files. */
  readonly store: number;
  /** Bytes of the folder with the dictionaries. */
  readonly dictionaries: number;
  /** Of both. */
  readonly total: number;
  /** Seconds that the command took. */
  readonly wall: number;
}

/** What the tables have in common. Repositories are made when they are asked for, and then kept. */
export interface Workspace {
  readonly rounds: number;
  /** The newest. */
  readonly hg: Mercurial;
  /** What unbundles: the system's, which stores deltas a little differently. */
  readonly unbundler: Mercurial;
  /** A history as Mercurial stores it with zlib. */
  readonly repository: (name: HistoryName) => string;
  /** The same as the newest Mercurial unbundles it; made anew each time. */
  readonly unbundledByNewest: (name: HistoryName) => string;
  /** The command `revconvert`, all threads. */
  readonly convert: (source: string, options: readonly string[]) => Converted;
  /** A history in a zstd store, without dictionaries or with those of `--dict auto`. */
  readonly stored: (name: HistoryName, kind: 'plain' | 'dictionaries') => Converted;
  /** The chunks of a history, decompressed. */
  readonly loaded: (name: HistoryName) => Promise<LoadedStore>;
  /** What `hg debugupgraderepo` makes of a repository: bytes of index and data files. */
  readonly upgrade: (source: string, options: readonly string[]) => number;
  readonly remove: (...folders: readonly string[]) => void;
}

export const PLAIN = ['--to', 'zstd'] as const;
export const WITH = ['--to', 'zstd', '--dict', 'auto'] as const;

/** Makes the folder that everything is in, below TMPDIR; it is gone when the process ends. */
export function createWorkspace(data: string, rounds: number): Workspace {
  const folder = createTemporaryFolder('dictionaries');
  const hg = findMercurial();
  const unbundler = findSystemMercurial() ?? hg;
  let count = 0;
  const newFolder = (): string => join(folder, String(count++));
  const repository = remember((name: HistoryName) => {
    const made = newFolder();
    unbundle(unbundler, bundleOf(data, name), made);
    return made;
  });
  const unbundledByNewest = (name: HistoryName): string => {
    const made = newFolder();
    unbundle(hg, bundleOf(data, name), made);
    return made;
  };
  const convert = (source: string, options: readonly string[]): Converted => {
    const made = newFolder();
    // What earlier runs left to be written must not be written on this one's time.
    execFileSync('sync');
    const { wall } = measure([process.execPath, COMMAND, '--quiet', ...options, source, made]);
    const sizes = { store: storeBytes(made), dictionaries: dictionaryBytes(made) };
    return { folder: made, ...sizes, total: sizes.store + sizes.dictionaries, wall };
  };
  const plain = remember((name: HistoryName) => convert(repository(name), PLAIN));
  const dictionaries = remember((name: HistoryName) => convert(repository(name), WITH));
  const loaded = remember((name: HistoryName) => loadStore(repository(name)));
  return {
    rounds,
    hg,
    unbundler,
    unbundledByNewest,
    repository,
    convert,
    loaded,
    stored: (name, kind) => (kind === 'plain' ? plain : dictionaries)(name),
    upgrade(source, options) {
      const made = newFolder();
      cpSync(source, made, { recursive: true });
      hg.run('-R', made, '--config', 'format.revlog-compression=zstd', 'debugupgraderepo', '--run', '--no-backup', '-q', ...options);
      const bytes = storeBytes(made);
      rmSync(made, { recursive: true });
      return bytes;
    },
    remove(...folders) {
      for (const one of folders) rmSync(one, { recursive: true });
    },
  };
}

/** The one on the PATH, where there is one. */
export function findSystemMercurial(): Mercurial | undefined {
  try {
    return findMercurial('hg');
  } catch {
    return undefined;
  }
}

/** A function that does its work once for each name. */
export function remember<Name, T>(make: (name: Name) => T): (name: Name) => T {
  const made = new Map<Name, { readonly value: T }>();
  return (name) => {
    const known = made.get(name) ?? { value: make(name) };
    made.set(name, known);
    return known.value;
  };
}
