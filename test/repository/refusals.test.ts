/** Repositories that are in no state to be converted, or not this program's to convert: refused by name. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { planRepository } from '../../src/index.js';
import { assertRefused } from '../bad-input/support.js';
import type { LayoutName } from '../support/repository-builder.js';
import { buildRepository, LAYOUTS, writeAt } from '../support/repository-builder.js';
import { assertFails, convert, Scratch } from './support.js';

describe('refused repositories', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  for (const layout of ['share-safe', 'no store'] as const satisfies readonly LayoutName[]) {
    for (const name of ['journal', '00changelog.i.a']) {
      it(`an abandoned transaction, ${layout}: ${name}`, async () => {
        const { store } = buildRepository(scratch.at('src'), { layout });
        writeAt(join(store, name), '');
        await assertRefused(scratch, { code: 'ABANDONED_TRANSACTION', path: name });
        await assertFails(planRepository(scratch.at('src')), { code: 'ABANDONED_TRANSACTION', path: name });
      });
    }
  }

  it('a tracked file called journal is no transaction', async () => {
    buildRepository(scratch.at('src'), { files: ['journal', '00changelog.i.a'] });
    await convert(scratch.at('src'), scratch.at('dst'));
  });

  for (const where of ['.hg/requires', '.hg/store/requires']) {
    it(`an interrupted upgrade, in ${where}`, async () => {
      buildRepository(scratch.at('src'));
      writeFileSync(scratch.at('src', where), 'share-safe\nrevlogv1\nstore\nupgradeinprogress\nsomething-unknown\n');
      await assertRefused(scratch, { code: 'INTERRUPTED_UPGRADE', message: /upgradeinprogress/ });
    });
  }

  const unknown: readonly (readonly [requirement: string, words: RegExp])[] = [
    ['invented-by-somebody', /invented-by-somebody \(unknown\)/],
    ['exp-revlogv2.2', /exp-revlogv2\.2 \(revlog v2, with docket files\)/],
    ['exp-changelog-v2', /exp-changelog-v2 \(changelog-v2/],
    ['exp-compression-brotli', /exp-compression-brotli \(an unknown compression engine\)/],
    ['exp-sqlite-001', /SQLite/],
    ['git', /Git/],
    ['treestate', /Sapling/],
  ];
  for (const [requirement, words] of unknown) {
    it(`an unknown requirement is named: ${requirement}`, async () => {
      buildRepository(scratch.at('src'), { requirements: [requirement] });
      await assertFails(convert(scratch.at('src'), scratch.at('dst')), { code: 'UNKNOWN_REQUIREMENT', message: words });
    });
  }

  it('several unknown requirements are all named', async () => {
    buildRepository(scratch.at('src'), { requirements: ['zzz-last', 'aaa-first'] });
    await assertRefused(scratch, { code: 'UNKNOWN_REQUIREMENT', message: /aaa-first.*zzz-last/ });
  });

  const shares: readonly (readonly [title: string, requires: string, sharedPath: string, source: string])[] = [
    ['an absolute path', 'shared\n', '/srv/main/.hg\n', '/srv/main/.hg'],
    ['an absolute path without a newline', 'shared\nstore\n', '/srv/main/.hg', '/srv/main/.hg'],
    ['a relative path', 'relshared\n', '../../main/.hg', 'main/.hg'],
    ['share-safe, whose own requirements are few', 'share-safe\nshared\ndirstate-v2\n', '/srv/main/.hg\n', '/srv/main/.hg'],
  ];
  for (const [title, requires, sharedPath, source] of shares) {
    it(`a share names its source: ${title}`, async () => {
      mkdirSync(scratch.at('src', '.hg'), { recursive: true });
      writeFileSync(scratch.at('src', '.hg', 'requires'), requires);
      writeFileSync(scratch.at('src', '.hg', 'sharedpath'), sharedPath);
      const where = source.startsWith('/') ? source : scratch.at(source);
      await assertRefused(scratch, { code: 'SHARED_REPOSITORY', path: '/src/.hg', message: new RegExp(`in ${where}$`) });
    });
  }

  it('a share whose source is not said', async () => {
    mkdirSync(scratch.at('src', '.hg'), { recursive: true });
    writeFileSync(scratch.at('src', '.hg', 'requires'), 'shared\n');
    await assertFails(convert(scratch.at('src'), scratch.at('dst')), { code: 'SHARED_REPOSITORY', path: '/src/.hg', message: /sharedpath is missing/ });
  });

  it('every layout that is known is not refused', async () => {
    for (const layout of Object.keys(LAYOUTS) as LayoutName[]) {
      buildRepository(scratch.at(layout), { layout });
      await convert(scratch.at(layout), scratch.at(`${layout} converted`));
    }
  });
});
