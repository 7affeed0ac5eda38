import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

import { readDictionaryId, withDictionaryId } from '../../src/formats/zstd-dictionary.js';
import { trainDictionary } from '../../src/repository/dictionaries/program.js';
import type { Mercurial } from '../published/workspace.js';
import { encodedBytes } from './codec.js';
import type { Part } from './part.js';
import { bytes, change } from './part.js';
import type { LoadedBatch } from './store.js';
import { inRuns, spreadSamples } from './train.js';
import type { Workspace } from './workspace.js';

/** Bytes that are asked for: the default of `zstd --train`, and more. */
const ASKED = [112_640, 262_144, 1_048_576] as const;
const SAMPLE_COUNTS = [4096, 1024, 256] as const;
const RUNS = [1, 2, 4, 8, 16] as const;
const PACKED_BYTES = 262_144;

interface Trainer {
  readonly name: string;
  /** @returns undefined where it makes nothing */
  readonly train: (folder: string, size: number) => Uint8Array | undefined;
}

const program = (option: string): Trainer => ({
  name: `\`zstd ${option}\``,
  train(folder, size) {
    const output = join(folder, 'dictionary');
    rmSync(output, { force: true });
    const { status } = spawnSync('zstd', ['--quiet', option, `--maxdict=${size}`, '-T1', '-o', output, '--filelist', join(folder, 'list')], { stdio: 'ignore' });
    return status === 0 ? readFileSync(output) : undefined;
  },
});

/** python-zstandard, as Mercurial brings it along. */
const python = (hg: Mercurial, repository: string, args: string): Trainer => ({
  name: `python-zstandard, \`train_dictionary(size, samples${args})\``,
  train(folder, size) {
    const output = join(folder, 'dictionary');
    rmSync(output, { force: true });
    const script = [
      'from mercurial import zstd',
      `names = open(${JSON.stringify(join(folder, 'list'))}).read().split()`,
      "samples = [open(name, 'rb').read() for name in names]",
      `open(${JSON.stringify(output)}, 'wb').write(zstd.train_dictionary(${size}, samples${args}).as_bytes())`,
    ];
    try {
      return hg.runScript(repository, script.join('\n')) === undefined ? undefined : readFileSync(output);
    } catch {
      return undefined;
    }
  },
});

/** Why did asking for more always give about 100 kB? And may several chunks be one sample? */
export async function measureTrainers({ hg, repository, loaded }: Workspace): Promise<Part> {
  const { batches } = await loaded('medium');
  const changelog = batches.filter(({ kind }) => kind === 'changelog');
  const plain = await encodedBytes(changelog);
  const trainers = [
    program('--train'),
    program('--train-fastcover=k=200,d=8,f=20,steps=1,split=100,accel=1'),
    program('--train-cover=steps=2'),
    program('--train-legacy'),
    program('--train-legacy=selectivity=12'),
    python(hg, repository('medium'), ''),
    python(hg, repository('medium'), ', k=200, d=8'),
  ];
  const rows: string[][] = [];
  for (const count of SAMPLE_COUNTS) {
    const samples = spreadSamples(changelog, count);
    const folder = writeSamples(samples);
    for (const { name, train } of trainers) {
      const cells: string[] = [];
      let seconds = 0;
      for (const size of ASKED) {
        const started = performance.now();
        const made = train(folder, size);
        seconds = (performance.now() - started) / 1000;
        cells.push(made === undefined ? 'none' : await describe(made, changelog, plain));
      }
      rows.push([`${bytes(samples.length)} (${bytes(samples.reduce((sum, { length }) => sum + length, 0))} bytes)`, name, ...cells, seconds.toFixed(1)]);
    }
    rmSync(folder, { recursive: true });
  }
  const [version] = /v\d[\d.]*/.exec(spawnSync('zstd', ['--version'], { encoding: 'utf8' }).stdout) ?? ['unknown'];
  return {
    name: 'trainers',
    title: 'What comes out when more is asked for',
    isTimed: true,
    about:
      `Samples are chunks of the changelog of medium.hg, spread over it by bytes, one a file. For each size that is asked for: the size of the dictionary that comes out, and what that does to all chunks of the changelog (${bytes(plain)} bytes without), the dictionary not counted. ` +
      `Seconds are those of the largest. zstd ${version}; python-zstandard is that of Mercurial ${hg.version} (its start is in the seconds).`,
    grids: [
      { head: ['samples', 'trainer', ...ASKED.map((size) => `asked for ${bytes(size)}`), 's'], rows },
      { head: ['chunks in a sample', 'changelog', 's', 'filelogs', 's'], rows: await packed([changelog, batches.filter(({ kind }) => kind === 'filelog')]) },
    ],
  };
}

async function describe(made: Uint8Array, batches: readonly LoadedBatch[], plain: number): Promise<string> {
  if (readDictionaryId(made) === undefined) return `${bytes(made.length)} (no trained dictionary)`;
  const dictionary = { id: 1, bytes: withDictionaryId(made, 1) };
  return `${bytes(made.length)} (${change(await encodedBytes(batches, { choice: () => dictionary }), plain)})`;
}

/** The same 4,096 samples, in fewer and fewer files. */
async function packed(kinds: readonly (readonly LoadedBatch[])[]): Promise<string[][]> {
  const plain: number[] = [];
  for (const batches of kinds) plain.push(await encodedBytes(batches));
  const rows: string[][] = [];
  for (const length of RUNS) {
    const cells: string[] = [];
    for (const [i, batches] of kinds.entries()) {
      const samples = inRuns(spreadSamples(batches, SAMPLE_COUNTS[0]), length);
      const started = performance.now();
      const made = await trainDictionary({ samples, size: PACKED_BYTES, id: 1 });
      const seconds = (performance.now() - started) / 1000;
      cells.push(made === undefined ? 'none' : await describe(made, batches, plain[i] ?? NaN), seconds.toFixed(2));
    }
    rows.push([String(length), ...cells]);
  }
  return rows;
}

/** A folder with a file for each sample, and a list of them. */
function writeSamples(samples: readonly Uint8Array[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'revconvert-samples-'));
  mkdirSync(join(folder, 'samples'));
  const names = samples.map((sample, i) => {
    const name = join(folder, 'samples', String(i));
    writeFileSync(name, sample);
    return name;
  });
  writeFileSync(join(folder, 'list'), names.join('\n'));
  return folder;
}

