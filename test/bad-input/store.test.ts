/** Stores whose list and disk disagree: converted, reported with status 1, and nothing lost. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, it } from 'mocha';

import type { ConversionSummary } from '../../src/index.js';
import { openRevlog } from '../../src/index.js';
import { convert, picture, runCommand, Scratch } from '../repository/support.js';
import type { BuiltRepository, LayoutName } from '../support/repository-builder.js';
import { buildRepository, buildRevlog, rawChunk, sampleText, storeTexts, writeAt, writeRevlogFiles } from '../support/repository-builder.js';
import { setChunk, truncate } from './support.js';

/** Warnings as `CODE path`. */
const warningsOf = ({ warnings }: ConversionSummary): string[] => warnings.map(({ code, at }) => `${code} ${at.path ?? ''}`).sort();

const droppedNames = ({ dropped }: ConversionSummary): string[] => dropped.map(({ name }) => name).sort();

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1).sort();

function revisionsOf(store: string, name: string): number {
  const reader = openRevlog({ indexFile: join(store, name), dataFile: join(store, `${name.slice(0, -1)}d`) });
  reader.close();
  return reader.index.length;
}

interface Case {
  readonly repository: BuiltRepository;
  readonly summary: ConversionSummary;
  /** Store of the destination. */
  readonly store: string;
}

describe('a store whose list and disk disagree', () => {
  const scratch = Scratch.use();

  async function run(prepare: (repository: BuiltRepository) => void, layout: LayoutName = 'share-safe'): Promise<Case> {
    const repository = buildRepository(scratch.at('src'), { layout });
    prepare(repository);
    const before = picture(scratch.at('src'));
    const summary = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(picture(scratch.at('src')), before, 'the source changed');
    assert.deepEqual(readdirSync(scratch.root).sort(), ['dst', 'src']);
    return { repository, summary, store: scratch.at('dst', '.hg', 'store') };
  }

  /** What the command says of it: status 1, the warnings on standard error. */
  async function assertStatusOne({ warnings }: ConversionSummary): Promise<void> {
    const { status, stderr } = await runCommand(['--to', 'zstd', '--quiet', scratch.at('src'), scratch.at('dst-command')]);
    assert.equal(status, 1, stderr);
    const lines = stderr.split('\n').slice(0, -1);
    assert.equal(lines.length, warnings.length, stderr);
    for (const [i, { code, at }] of warnings.entries()) {
      assert.ok(lines[i]?.startsWith('revconvert: warning: '), lines[i]);
      for (const part of [code, at.path ?? '']) assert.ok(lines[i]?.includes(part), lines[i]);
    }
  }

  it('a listed .i that is missing is reported and stays listed', async () => {
    const { summary, store } = await run(({ inStore }) => appendFileSync(inStore('fncache'), 'data/gone.txt.i\n'));
    assert.deepEqual(warningsOf(summary), ['REVLOG_MISSING data/gone.txt.i']);
    assert.ok(linesOf(join(store, 'fncache')).includes('data/gone.txt.i'));
    await assertStatusOne(summary);
  });

  it('a listed revlog whose index is missing: what is left of it is carried', async () => {
    const { summary, store, repository } = await run(({ inStore }) => rmSync(inStore('data/split.txt.i')));
    assert.ok(warningsOf(summary).includes('REVLOG_MISSING data/split.txt.i'));
    assert.deepEqual(readFileSync(join(store, 'data/split.txt.d')), repository.revlog('data/split.txt.i').data);
    assert.deepEqual(linesOf(join(store, 'fncache')), ['data/a.txt.i', 'data/split.txt.d', 'data/split.txt.i']);
  });

  it('a listed .d that is not there and not needed is reported, and no longer listed', async () => {
    const { summary, store } = await run(({ inStore }) => appendFileSync(inStore('fncache'), 'data/a.txt.d\n'));
    assert.deepEqual(warningsOf(summary), ['REVLOG_MISSING data/a.txt.d']);
    assert.match(summary.warnings[0]?.message ?? '', /no longer listed/);
    assert.deepEqual(linesOf(join(store, 'fncache')), ['data/a.txt.i', 'data/split.txt.i']);
  });

  it('an unlisted revlog is converted, reported, and still not listed', async () => {
    const { summary, store } = await run(({ inStore }) => writeFileSync(inStore('fncache'), 'data/split.txt.i\ndata/split.txt.d\n'));
    assert.deepEqual(warningsOf(summary), ['STORE_DISORDER data/a.txt.i']);
    assert.deepEqual(linesOf(join(store, 'fncache')), ['data/split.txt.i']);
    assert.equal(revisionsOf(store, 'data/a.txt.i'), 4);
    await assertStatusOne(summary);
  });

  it('an unlisted revlog that is damaged is carried byte for byte', async () => {
    const { summary, store, repository } = await run((built) => {
      writeFileSync(built.inStore('fncache'), 'data/a.txt.i\n');
      setChunk('data/split.txt.i', 2, 0, Buffer.of(0x12))(built);
    });
    assert.deepEqual(warningsOf(summary), ['CHUNK_MARKER data/split.txt.i', 'STORE_DISORDER data/split.txt.i']);
    for (const name of ['data/split.txt.i', 'data/split.txt.d']) assert.deepEqual(readFileSync(join(store, name)), readFileSync(repository.inStore(name)));
  });

  it('an unlisted revlog larger than a MiB that is damaged is carried byte for byte', async () => {
    const texts = Array.from({ length: 30 }, (_, rev) => sampleText(`large ${rev}`, 80_000));
    const large = buildRevlog(storeTexts(texts, rawChunk), 'split');
    const { summary, store, repository } = await run((built) => {
      writeRevlogFiles(built.store, 'data/large.i', large);
      const data = Buffer.from(large.data ?? '');
      data[large.chunkAt(25)] = 0x12;
      writeFileSync(built.inStore('data/large.d'), data);
    });
    assert.deepEqual(warningsOf(summary), ['CHUNK_MARKER data/large.i', 'STORE_DISORDER data/large.i']);
    for (const name of ['data/large.i', 'data/large.d']) assert.ok(readFileSync(join(store, name)).equals(readFileSync(repository.inStore(name))));
  });

  const hashed = `dh/longname/${'x'.repeat(60)}${'0123456789'.repeat(4)}.i`;
  const strays: readonly (readonly [title: string, name: string])[] = [
    ['a hashed file that no line of the list names', hashed],
    ['a .d without a .i', 'data/stray.txt.d'],
    ['a file that is no revlog', 'data/notes.orig'],
    ['a name that no file can have', 'data/UPPER.i'],
  ];
  for (const [title, name] of strays) {
    it(`${title} is carried byte for byte and reported`, async () => {
      const { summary, store } = await run(({ inStore }) => writeAt(inStore(name), 'whatever\0it is'));
      assert.deepEqual(warningsOf(summary), [`STORE_DISORDER ${name}`]);
      assert.equal(readFileSync(join(store, name), 'latin1'), 'whatever\0it is');
      assert.ok(!linesOf(join(store, 'fncache')).includes(name));
      await assertStatusOne(summary);
    });
  }

  it('a link to nowhere is carried as a link and reported', async () => {
    const { summary, store } = await run(({ inStore }) => symlinkSync('nowhere', inStore('data/link.i')));
    assert.deepEqual(warningsOf(summary), ['STORE_DISORDER data/link.i']);
    assert.equal(picture(store)['data/link.i'], 'link to nowhere');
  });

  it('a FIFO among the revlogs is left out and named', async () => {
    const { spawnSync } = await import('node:child_process');
    const { summary, store } = await run(({ inStore }) => assert.equal(spawnSync('mkfifo', [inStore('data/pipe.i')]).status, 0));
    assert.deepEqual(droppedNames(summary), ['data/pipe.i']);
    assert.equal(existsSync(join(store, 'data/pipe.i')), false);
  });

  it('data of a changelog that has no index is carried and reported', async () => {
    const { summary, store } = await run(({ inStore }) => {
      rmSync(inStore('00manifest.i'));
      writeFileSync(inStore('00manifest.d'), 'all that is left');
    });
    assert.deepEqual(warningsOf(summary), ['STORE_DISORDER 00manifest.d']);
    assert.equal(readFileSync(join(store, '00manifest.d'), 'utf8'), 'all that is left');
  });

  it('a data file beside an inline revlog is reported and left behind', async () => {
    const { summary, store } = await run(({ inStore }) => writeFileSync(inStore('data/a.txt.d'), 'stale'));
    assert.deepEqual(warningsOf(summary), ['STORE_DISORDER data/a.txt.i']);
    assert.equal(existsSync(join(store, 'data/a.txt.d')), false);
  });

  it('an empty index beside a data file with bytes is reported', async () => {
    const { summary } = await run((built) => truncate('data/split.txt.i', () => 0)(built));
    assert.deepEqual(warningsOf(summary), ['STORE_DISORDER data/split.txt.i']);
  });

  it('bytes behind the last chunk are left behind and named', async () => {
    const { summary } = await run(({ inStore }) => appendFileSync(inStore('data/split.txt.d'), 'more'));
    assert.deepEqual(summary.dropped, [{ name: 'data/split.txt.i', why: '4 bytes behind its last chunk that no revision refers to' }]);
    assert.deepEqual(summary.warnings, []);
  });

  it('an empty .i that nothing refers to is legal', async () => {
    const { summary, store } = await run(({ inStore }) => {
      writeFileSync(inStore('data/empty.txt.i'), '');
      appendFileSync(inStore('fncache'), 'data/empty.txt.i\n');
    });
    assert.deepEqual(summary.warnings, []);
    assert.equal(readFileSync(join(store, 'data/empty.txt.i')).length, 0);
    assert.ok(linesOf(join(store, 'fncache')).includes('data/empty.txt.i'));
  });

  it('a repository without changelog, manifest and files is fine', async () => {
    const { summary, store } = await run(({ store: own }) => {
      for (const name of readdirSync(own)) if (name !== 'requires') rmSync(join(own, name), { recursive: true });
    });
    assert.deepEqual(summary.warnings, []);
    assert.equal(summary.revisions, 0);
    assert.deepEqual(readdirSync(store), ['requires']);
  });

  it('a repository without a manifest is fine', async () => {
    const { summary } = await run(({ inStore }) => rmSync(inStore('00manifest.i')));
    assert.deepEqual(summary.warnings, []);
  });
});

describe('backups of a transaction', () => {
  const scratch = Scratch.use();
  const BACKUP = 'data/undo.backup.a.txt.i';

  /** A line of undo.backupfiles for a file of the store. */
  const backupLine = (name: string): string => `\0${name}\0${dirname(name)}/undo.backup.${name.slice(name.lastIndexOf('/') + 1)}\0\0\n`;

  it('an unlisted undo.backup.*.i is no filelog: left behind, without a warning', async () => {
    const { inStore } = buildRepository(scratch.at('src'));
    writeAt(inStore(BACKUP), 'secret');
    writeAt(inStore('data/undo.backup.split.txt.d.bck'), 'secret');
    const summary = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(summary.warnings, []);
    assert.deepEqual(droppedNames(summary), [BACKUP, 'data/undo.backup.split.txt.d.bck']);
    assert.deepEqual(readdirSync(scratch.at('dst', '.hg', 'store', 'data')).sort(), ['a.txt.i', 'split.txt.i']);
  });

  it('a tracked file of such a name is a filelog, since the list has it', async () => {
    const files = ['undo.backup.x', 'a.txt'];
    buildRepository(scratch.at('src'), { files });
    const summary = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual([summary.warnings, summary.dropped], [[], []]);
    assert.equal(revisionsOf(scratch.at('dst', '.hg', 'store'), 'data/undo.backup.x.i'), 4);
  });

  it('in a store without fncache, only what undo.backupfiles names is one', async () => {
    const files = ['undo.backup.x', 'a.txt'];
    const { inStore } = buildRepository(scratch.at('src'), { layout: 'store without fncache', files });
    writeAt(inStore(BACKUP), 'secret');
    writeAt(inStore('undo.backupfiles'), `2\n${backupLine('data/a.txt.i')}`);
    const summary = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(summary.warnings, []);
    assert.deepEqual(droppedNames(summary), [BACKUP, 'store/undo.backupfiles']);
    assert.equal(revisionsOf(scratch.at('dst', '.hg', 'store'), 'data/undo.backup.x.i'), 4);
  });

  it('a repository without a store', async () => {
    const { hg } = buildRepository(scratch.at('src'), { layout: 'no store' });
    writeAt(join(hg, BACKUP), 'secret');
    writeAt(join(hg, 'undo.backupfiles'), `2\n${backupLine('data/a.txt.i')}`);
    const summary = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(droppedNames(summary), [BACKUP, 'undo.backupfiles']);
    assert.deepEqual(summary.warnings, []);
  });

  it('hashed backups are known by undo.backupfiles', async () => {
    const { inStore } = buildRepository(scratch.at('src'));
    const backup = `dh/undo/${'y'.repeat(40)}.i`;
    writeAt(inStore(backup), 'secret');
    writeAt(inStore('undo.backupfiles'), `2\n\0data/whatever.i\0${backup}\0\0\n`);
    const summary = await convert(scratch.at('src'), scratch.at('dst'));
    assert.deepEqual(summary.warnings, []);
    assert.ok(droppedNames(summary).includes(backup));
  });
});
