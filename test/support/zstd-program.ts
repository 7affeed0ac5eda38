/** The `zstd` program, which trains dictionaries, and knows nothing of this project. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Context } from 'mocha';

const isThere = spawnSync('zstd', ['--version']).status === 0;

/** Skips a test where the program is missing, and says so. */
export function requireZstd(test: Context): void {
  if (isThere) return;
  process.stderr.write('      skipped: no zstd program\n');
  test.skip();
}

function inFolder<T>(action: (at: (name: string) => string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'revconvert-zstd-'));
  try {
    return action((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Trains a dictionary. */
export const trainWithProgram = (samples: readonly Buffer[], id: number, bytes = 2048): Buffer =>
  inFolder((at) => {
    const names = samples.map((sample, i) => {
      writeFileSync(at(String(i)), sample);
      return at(String(i));
    });
    execFileSync('zstd', ['-q', '--train', `--maxdict=${bytes}`, `--dictID=${id}`, '-o', at('dictionary'), ...names], { stdio: 'pipe' });
    return readFileSync(at('dictionary'));
  });

/** What a frame holds. Throws where the program cannot tell by this dictionary. */
export const decompressWithProgram = (frame: Buffer, dictionary: Buffer): Buffer =>
  inFolder((at) => {
    writeFileSync(at('frame.zst'), frame);
    writeFileSync(at('dictionary'), dictionary);
    return execFileSync('zstd', ['-q', '-d', '-c', '-D', at('dictionary'), at('frame.zst')]);
  });
