// What would each policy make of a repository? Converts it under every preset into a temporary folder and compares.
//
// usage:    node examples/compare-policies.mjs REPOSITORY [engine]
// example:  node examples/compare-policies.mjs examples/repository zstd
// prints:   for each preset the bytes of the store, the longest chain, and the seconds it took
// @ts-check
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { collectStats, convertRepository, PRESETS } from 'revconvert';

const [repository, engine = 'zstd'] = process.argv.slice(2);
if (repository === undefined) {
  console.error('usage: node examples/compare-policies.mjs REPOSITORY [engine]');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'compare-policies-'));
try {
  for (const preset of /** @type {(keyof typeof PRESETS)[]} */ (Object.keys(PRESETS))) {
    const made = join(folder, preset);
    const to = /** @type {import('revconvert').EngineName} */ (engine);
    const { milliseconds } = await convertRepository(repository, made, { to, redelta: 'all', policy: { preset } });
    const { total } = await collectStats(made);
    console.log(`${preset.padEnd(14)} ${String(total.fileBytes).padStart(12)} bytes  longest chain ${String(total.chains.longest).padStart(5)}  ${(milliseconds / 1000).toFixed(1)} s`);
    rmSync(made, { recursive: true });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
