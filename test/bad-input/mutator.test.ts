/**
 * Garbage never makes it hang, take gigabytes, or fail in any other way than by saying what is wrong with the input:
 * thousands of mutations of real revlogs, the same in every run.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { before, describe, it } from 'mocha';

import { resolvePolicy } from '../../src/delta/policy-input.js';
import { RevconvertError } from '../../src/errors.js';
import type { RevlogKind } from '../../src/formats/record.js';
import type { RevlogJob } from '../../src/repository/convert-revlog.js';
import { convertRevlog } from '../../src/repository/convert-revlog.js';
import type { ConversionSettings } from '../../src/repository/settings.js';
import { WITHOUT_DICTIONARIES } from '../../src/repository/settings.js';
import type { ThreadEngines } from '../../src/repository/thread-engines.js';
import { loadThreadEngines } from '../../src/repository/thread-engines.js';
import { convert, meaningOf, readBack, Scratch } from '../repository/support.js';
import type { FixtureName } from '../support/fixtures.js';
import { fixtureFile, FIXTURES } from '../support/fixtures.js';
import { isNodeRight, referenceTexts } from '../support/reference-texts.js';
import { Chance, mutate } from './mutations.js';

const REVLOG_MUTATIONS = 4000;
const REPOSITORY_MUTATIONS = 100;
const MAX_GROWTH_BYTES = 200 << 20;

/** Names of fixtures, which are unpacked as folders of that name. */
const NAMES = Object.keys(FIXTURES) as FixtureName[];

const SETTINGS: ConversionSettings = {
  engine: 'zstd',
  levels: { changelog: 1, manifest: 1, filelog: 1 },
  checksum: false,
  checkChunks: true,
  keepGoing: false,
  redelta: 'never',
  policy: resolvePolicy(),
  generaldelta: true,
  dictionaries: WITHOUT_DICTIONARIES,
  fileMode: undefined,
};

/** A revlog to be damaged. */
interface Seed {
  readonly name: string;
  readonly kind: RevlogKind;
  readonly index: Buffer;
  readonly data: Buffer | undefined;
}

const kindOf = (name: string): RevlogKind => (name.includes('00changelog') ? 'changelog' : name.includes('00manifest') ? 'manifest' : 'filelog');

function seedsIn(folder: string): Seed[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.i') && !name.endsWith(join('.hg', '00changelog.i')) && readFileSync(join(folder, name)).length > 0)
    .sort()
    .map((name) => {
      const dataFile = join(folder, `${name.slice(0, -1)}d`);
      return { name, kind: kindOf(name), index: readFileSync(join(folder, name)), data: existsSync(dataFile) ? readFileSync(dataFile) : undefined };
    });
}

/** The peak of what this process holds, over what it held at first. */
class MemoryWatch {
  readonly #first = process.memoryUsage();

  check(label: string): void {
    const { rss, arrayBuffers } = process.memoryUsage();
    assert.ok(arrayBuffers - this.#first.arrayBuffers < MAX_GROWTH_BYTES, `${label}: ${arrayBuffers} bytes in buffers`);
    assert.ok(rss - this.#first.rss < MAX_GROWTH_BYTES, `${label}: ${rss} bytes in memory`);
  }
}

function unpackFixtures(folder: string): void {
  for (const name of NAMES) execFileSync('tar', ['xzf', fixtureFile(name), '-C', folder]);
}

function assertInputError(error: unknown, label: string): void {
  assert.ok(error instanceof RevconvertError, `${label}: ${String(error)}`);
  assert.equal(error.kind, 'input', `${label}: ${error.code}: ${error.message} ${String(error.cause)}`);
}

describe('mutations', function () {
  this.timeout(240_000);
  const scratch = Scratch.use();
  let engines: ThreadEngines;
  before(async () => {
    engines = await loadThreadEngines(SETTINGS, () => false);
  });

  /** Damages one revlog and puts it in its place. */
  function damage(seed: Seed, chance: Chance): { readonly job: RevlogJob; readonly label: string } {
    const inData = seed.data !== undefined && seed.data.length > 0 && chance.below(3) === 0;
    const { bytes, what } = mutate(inData ? seed.data : seed.index, chance);
    rmSync(scratch.at('work'), { recursive: true, force: true });
    mkdirSync(scratch.at('work', 'to'), { recursive: true });
    writeFileSync(scratch.at('work', 'from.i'), inData ? seed.index : bytes);
    const data = inData ? bytes : seed.data;
    if (data !== undefined) writeFileSync(scratch.at('work', 'from.d'), data);
    const job: RevlogJob = {
      id: 0,
      name: seed.name,
      kind: seed.kind,
      sourceIndex: scratch.at('work', 'from.i'),
      sourceData: scratch.at('work', 'from.d'),
      targetIndex: scratch.at('work', 'to', 'to.i'),
      targetData: scratch.at('work', 'to', 'to.d'),
      hasData: data !== undefined,
      stray: false,
    };
    return { job, label: `${seed.name}, ${inData ? '.d' : '.i'}: ${what}` };
  }

  type Revisions = Awaited<ReturnType<typeof readBack>>;

  /** Damages revlogs, and converts each: it is refused as bad input and leaves nothing behind, or what was made is looked at. */
  async function convertDamaged(times: number, seed: number, settings: ConversionSettings, look: (from: Revisions, to: Revisions, label: string) => void): Promise<{ converted: number; refused: number }> {
    unpackFixtures(scratch.root);
    const seeds = NAMES.flatMap((name) => seedsIn(scratch.at(name)).map((one) => ({ ...one, name: `${name}/${one.name}` })));
    const threads = await loadThreadEngines(settings, () => false);
    const chance = new Chance(seed);
    const memory = new MemoryWatch();
    const seen = { converted: 0, refused: 0 };
    for (let i = 0; i < times; i++) {
      const { job, label: what } = damage(chance.pick(seeds), chance);
      const label = `${i} ${what}`;
      try {
        await convertRevlog(job, settings, threads);
      } catch (error) {
        assertInputError(error, label);
        assert.deepEqual(readdirSync(scratch.at('work', 'to')), [], `${label}: left behind`);
        seen.refused++;
        continue;
      } finally {
        memory.check(label);
      }
      seen.converted++;
      look(await readBack(String(job.sourceIndex)), await readBack(String(job.targetIndex)), label);
    }
    return seen;
  }

  it(`of a revlog, ${REVLOG_MUTATIONS} times: converted right, or refused as bad input`, async () => {
    const seen = await convertDamaged(REVLOG_MUTATIONS, 20_240_229, SETTINGS, (from, to, label) => {
      assert.deepEqual(meaningOf(to), meaningOf(from), label);
    });
    // Neither branch may be empty, or the mutations are too gentle or too hard.
    assert.ok(seen.converted > REVLOG_MUTATIONS / 20 && seen.refused > REVLOG_MUTATIONS / 4, JSON.stringify(seen));
  });

  it(`of a revlog, ${REVLOG_MUTATIONS / 4} times with --keep-going: never refused, and what is sound stays so`, async () => {
    unpackFixtures(scratch.root);
    const seeds = NAMES.flatMap((name) => seedsIn(scratch.at(name)));
    const chance = new Chance(7);
    const memory = new MemoryWatch();
    const settings = { ...SETTINGS, keepGoing: true };
    for (let i = 0; i < REVLOG_MUTATIONS / 4; i++) {
      const { job, label } = damage(chance.pick(seeds), chance);
      const { carried } = await convertRevlog(job, settings, engines);
      memory.check(`${i} ${label}`);
      if (carried !== undefined) {
        assert.deepEqual(readFileSync(String(job.targetIndex)), readFileSync(String(job.sourceIndex)), `${i} ${label}`);
        continue;
      }
      const [from, to] = [await readBack(String(job.sourceIndex), true), await readBack(String(job.targetIndex), true)];
      const sound = new Set(from.filter(({ damaged }) => !damaged).map(({ rev }) => rev));
      const kept = (revisions: typeof to): typeof to => revisions.filter(({ rev }) => sound.has(rev));
      assert.equal(to.length, from.length, `${i} ${label}`);
      assert.deepEqual(meaningOf(kept(to)), meaningOf(kept(from)), `${i} ${label}`);
    }
  });

  it(`of a revlog, ${REVLOG_MUTATIONS / 4} times with new deltas: every text stays, or it is refused as bad input`, async () => {
    const seen = await convertDamaged(REVLOG_MUTATIONS / 4, 1_848, { ...SETTINGS, redelta: 'all' }, (from, to, label) => {
      const texts = referenceTexts(from);
      assert.deepEqual(referenceTexts(to), texts, label);
      for (const [rev, text] of texts.entries()) assert.ok(isNodeRight(from, rev, text ?? Buffer.alloc(0)), `${label}: rev ${rev} is wrong, and was given a new delta`);
    });
    assert.ok(seen.converted > REVLOG_MUTATIONS / 400 && seen.refused > REVLOG_MUTATIONS / 16, JSON.stringify(seen));
  });

  it(`of a revlog, ${REVLOG_MUTATIONS / 4} times with new deltas and --keep-going: what is sound stays so, what is not keeps its delta`, async () => {
    unpackFixtures(scratch.root);
    const seeds = NAMES.flatMap((name) => seedsIn(scratch.at(name)));
    const chance = new Chance(33);
    const memory = new MemoryWatch();
    const settings: ConversionSettings = { ...SETTINGS, redelta: 'all', keepGoing: true };
    const threads = await loadThreadEngines(settings, () => false);
    for (let i = 0; i < REVLOG_MUTATIONS / 4; i++) {
      const { job, label } = damage(chance.pick(seeds), chance);
      const { carried } = await convertRevlog(job, settings, threads);
      memory.check(`${i} ${label}`);
      if (carried !== undefined) continue;
      const [from, to] = [await readBack(String(job.sourceIndex), true), await readBack(String(job.targetIndex), true)];
      const [texts, made] = [referenceTexts(from), referenceTexts(to)];
      assert.equal(to.length, from.length, `${i} ${label}`);
      for (const [rev, revision] of from.entries()) {
        const text = texts[rev];
        const place = `${i} ${label}: rev ${rev}`;
        if (text !== undefined && isNodeRight(from, rev, text)) assert.deepEqual(made[rev], text, place);
        else assert.equal(to[rev]?.deltaBase, revision.deltaBase, place);
        if (revision.damaged) assert.deepEqual(to[rev]?.chunk, revision.chunk, place);
        else if (text === undefined) assert.deepEqual(to[rev]?.delta, revision.delta, place);
      }
    }
  });

  it(`of a file of a repository, ${REPOSITORY_MUTATIONS} times: converted, or refused as bad input with nothing left`, async () => {
    unpackFixtures(scratch.root);
    const chance = new Chance(99);
    const memory = new MemoryWatch();
    const lists = /(?:requires|fncache|fileindex.*)$/;
    for (let i = 0; i < REPOSITORY_MUTATIONS; i++) {
      const fixture = chance.pick(NAMES);
      rmSync(scratch.at('work'), { recursive: true, force: true });
      cpSync(scratch.at(fixture), scratch.at('work', 'src'), { recursive: true });
      const hg = scratch.at('work', 'src', '.hg');
      const files = readdirSync(hg, { recursive: true, encoding: 'utf8', withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort();
      const listed = files.filter((file) => lists.test(file));
      const file = chance.pick(chance.below(3) === 0 && listed.length > 0 ? listed : files);
      const { bytes, what } = mutate(readFileSync(file), chance);
      writeFileSync(file, bytes);
      const label = `${i} ${fixture}${file.slice(hg.length)}: ${what}`;
      try {
        await convert(scratch.at('work', 'src'), scratch.at('work', 'dst'));
      } catch (error) {
        assertInputError(error, label);
        assert.deepEqual(readdirSync(scratch.at('work')), ['src'], `${label}: left behind`);
        continue;
      } finally {
        memory.check(label);
      }
      for (const { name } of seedsIn(scratch.at('work', 'dst'))) await readBack(scratch.at('work', 'dst', name));
    }
  });
});
