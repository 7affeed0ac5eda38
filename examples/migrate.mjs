// Converts every repository under a folder, with the library: a JSON line each on standard output, then a summary.
//
// usage:    node examples/migrate.mjs FROM TO [engine]
// example:  node examples/migrate.mjs /srv/hg /srv/hg-zstd zstd
// prints:   {"repository":"...","before":412345,"after":398765,"milliseconds":81,"warnings":0} for each, and the counts at the end
// @ts-check
import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import { convertRepository, RevconvertError } from 'revconvert';

const [from, to, engine = 'zstd'] = process.argv.slice(2);
if (from === undefined || to === undefined) {
  console.error('usage: node examples/migrate.mjs FROM TO [engine]');
  process.exit(2);
}

/**
 * Every folder with a `.hg`, outermost first; nothing inside a `.hg` is looked at.
 * @param {string} folder
 * @returns {AsyncGenerator<string>}
 */
async function* repositories(folder) {
  const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  if (entries.some(({ name }) => name === '.hg')) yield folder;
  for (const { name } of entries) if (name !== '.hg') yield* repositories(join(folder, name));
}

let done = 0;
let damaged = 0;
let failed = 0;
let skipped = 0;
for await (const repository of repositories(from)) {
  const target = join(to, relative(from, repository));
  if (existsSync(join(target, '.hg'))) {
    skipped++;
    continue;
  }
  try {
    await mkdir(dirname(target), { recursive: true });
    const { bytesBefore, bytesAfter, milliseconds, warnings } = await convertRepository(repository, target, { to: /** @type {import('revconvert').EngineName} */ (engine) });
    console.log(JSON.stringify({ repository, before: bytesBefore, after: bytesAfter, milliseconds, warnings: warnings.length }));
    if (warnings.length === 0) done++;
    else damaged++;
  } catch (error) {
    if (!(error instanceof RevconvertError)) throw error;
    console.log(JSON.stringify({ repository, error }));
    failed++;
  }
}
console.error(`${done} converted, ${damaged} with damage to report, ${failed} failed, ${skipped} there already`);
process.exitCode = failed + damaged === 0 ? 0 : 1;
