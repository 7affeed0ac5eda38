import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { COMMAND, HG } from '../cases.js';
import { findSystemMercurial, remember } from '../dictionaries/workspace.js';
import type { Mercurial } from '../published/workspace.js';
import { bundleOf, createTemporaryFolder, findMercurial, unbundle } from '../published/workspace.js';

/** How a store is compressed. */
export type StoreEngine = 'zlib' | 'zstd';

/** Bundles that Mercurial made of medium.hg. */
export type BundleKind = 'none-v2' | 'gzip-v2' | 'zstd-v2';

/** What the tables have in common. Repositories and bundles are made when they are asked for, and then kept. */
export interface Workspace {
  readonly rounds: number;
  /** The newest. */
  readonly hg: Mercurial;
  /** What unbundles the history: the system's. */
  readonly unbundler: Mercurial;
  /** The history of medium.hg as Mercurial stores it. */
  readonly repository: (engine: StoreEngine) => string;
  /** All of it, as the newest Mercurial bundles it from the zlib store. */
  readonly bundle: (kind: BundleKind) => string;
  /** Of the endless bundles: bytes of the short one and of the long one. */
  readonly endless: readonly [short: number, long: number];
  /** A path below TMPDIR where nothing is. */
  readonly newPath: () => string;
  /** Files and folders, whether they are there or not. */
  readonly remove: (...paths: readonly string[]) => void;
}

/** Makes the folder that everything is in, below TMPDIR; it is gone when the process ends. */
export function createWorkspace(data: string, rounds: number, endless: readonly [number, number]): Workspace {
  const folder = createTemporaryFolder('bundles');
  const hg = findMercurial();
  const unbundler = findSystemMercurial() ?? hg;
  let count = 0;
  const newPath = (): string => join(folder, String(count++));
  const repository = remember((engine: StoreEngine) => {
    const made = newPath();
    unbundle(unbundler, bundleOf(data), made, engine);
    return made;
  });
  return {
    rounds,
    hg,
    unbundler,
    repository,
    bundle: remember((kind: BundleKind) => {
      const made = `${newPath()}.hg`;
      hg.run('-R', repository('zlib'), 'bundle', '-q', '-a', '-t', kind, made);
      return made;
    }),
    endless,
    newPath,
    remove(...paths) {
      for (const path of paths) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** `revconvert bundle`, as a command. */
export const bundleCommand = (...args: readonly string[]): string[] => [process.execPath, COMMAND, 'bundle', ...args];

/** Mercurial's command, with a repository. */
export const hgCommand = (repository: string, ...args: readonly string[]): string[] => [HG, '-R', repository, ...args];
