/** The requirements written are those that Mercurial itself writes for the same kind of repository. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import type { ConvertOptions } from '../../src/index.js';
import { convertRepository } from '../../src/index.js';
import { configArguments, runHgOk } from '../support/hg-session.js';
import { requireMercurials } from '../support/mercurial.js';
import { useTempFolder } from '../support/temp-folder.js';

interface Case {
  readonly title: string;
  /** How the source is made. */
  readonly source: readonly string[];
  /** Lines taken out of its requirements before the first commit. */
  readonly without?: string;
  readonly options: ConvertOptions;
  /** How Mercurial makes a new repository of the kind that is to come out. */
  readonly target: readonly string[];
}

const ZLIB = 'format.revlog-compression=zlib';
const ZSTD = 'format.revlog-compression=zstd';
const NONE = 'format.revlog-compression=none';
const OLD_STORE = ['format.use-share-safe=no', 'format.usegeneraldelta=no', 'format.sparse-revlog=no'];

const CASES: readonly Case[] = [
  { title: 'zlib to zstd', source: [ZLIB], options: { to: 'zstd' }, target: [ZSTD] },
  { title: 'zstd to zlib', source: [ZSTD], options: { to: 'zlib' }, target: [ZLIB] },
  { title: 'zstd to none', source: [ZSTD], options: { to: 'none' }, target: [NONE] },
  { title: 'none to zstd', source: [NONE], options: { to: 'zstd' }, target: [ZSTD] },
  { title: 'no engine chosen', source: [ZSTD], options: {}, target: [ZSTD] },
  { title: 'without share-safe', source: [ZLIB, 'format.use-share-safe=no'], options: { to: 'zstd' }, target: [ZSTD, 'format.use-share-safe=no'] },
  { title: 'without dotencode', source: [ZLIB, 'format.dotencode=no'], options: { to: 'zstd' }, target: [ZSTD, 'format.dotencode=no'] },
  { title: 'without fncache', source: [ZLIB, 'format.usefncache=no'], options: { to: 'zstd' }, target: [ZSTD, 'format.usefncache=no'] },
  {
    title: 'without generaldelta, which is added',
    source: [ZLIB, 'format.usegeneraldelta=no', 'format.sparse-revlog=no'],
    options: { to: 'zstd' },
    target: [ZSTD, 'format.sparse-revlog=no'],
  },
  {
    title: 'without generaldelta, which is declined',
    source: [ZLIB, 'format.usegeneraldelta=no', 'format.sparse-revlog=no'],
    options: { to: 'zstd', generaldelta: false },
    target: [ZSTD, 'format.usegeneraldelta=no', 'format.sparse-revlog=no'],
  },
  { title: 'without a store, to today\'s layout', source: [ZLIB, 'format.usestore=no', ...OLD_STORE], options: { to: 'zstd' }, target: [ZSTD] },
  { title: 'version 0, to today\'s layout', source: [ZLIB, ...OLD_STORE], without: 'revlogv1', options: { to: 'zlib' }, target: [ZLIB] },
  { title: 'tree manifests and a dirstate of version 2', source: [ZLIB, 'experimental.treemanifest=yes', 'format.use-dirstate-v2=yes', 'storage.dirstate-v2.slow-path=allow'], options: { to: 'zstd' }, target: [ZSTD, 'experimental.treemanifest=yes', 'format.use-dirstate-v2=yes', 'storage.dirstate-v2.slow-path=allow'] },
];

function removeLine(file: string, line: string): void {
  writeFileSync(file, readFileSync(file, 'latin1').replace(`${line}\n`, ''));
}

/** The lines of both files; undefined where there is no such file. */
const requirementsOf = (repository: string): (string | undefined)[] =>
  ['requires', 'store/requires'].map((name) => {
    const file = join(repository, '.hg', name);
    return existsSync(file) ? readFileSync(file, 'latin1').split('\n').sort().join('\n') : undefined;
  });

describe('requirements, against Mercurial', () => {
  const temporary = useTempFolder();

  for (const { title, source, without, options, target } of CASES) {
    it(title, async function () {
      this.timeout(60_000);
      for (const { hg, version } of requireMercurials(this)) {
        const [from, to, fresh] = ['from', 'to', 'fresh'].map((name) => temporary(`${name}-${version}`));
        if (from === undefined || to === undefined || fresh === undefined) return;
        runHgOk(hg, ['init', ...configArguments(source), from]);
        if (without !== undefined) removeLine(join(from, '.hg/requires'), without);
        await convertRepository(from, to, options);
        runHgOk(hg, ['init', ...configArguments(target), fresh]);
        assert.deepEqual(requirementsOf(to), requirementsOf(fresh), version);
      }
    });
  }
});
