/**
 * Makes the repositories that are committed with the project, with real Mercurial:
 *
 *     npm run build && HG_NEWEST=hg7 node dist/scripts/make-fixtures.js fixtures    (test/fixtures/*.tar.gz)
 *     npm run build && node dist/scripts/make-fixtures.js example                   (examples/repository)
 *
 * HG names the Mercurial to use (default: hg; the committed ones were made with 6.3.2), HG_NEWEST one of 7.2 or
 * newer for the fixture delta-info, which is left as it is without. Names after `fixtures` make only those.
 * The same Mercurial makes the same bytes again.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { fixtureFile, type FixtureName, FIXTURES } from '../test/support/fixtures.js';
import { type HgSession, runHgOk } from '../test/support/hg-session.js';
import { Committer, commonHistory, noise, sourceText } from '../test/support/histories.js';
import { censored, type History, made, version0 } from '../test/support/layouts.js';
import { PROJECT_ROOT } from '../test/support/paths.js';
import { exampleHistory } from './example-history.js';

type Build = (hg: string, folder: string) => Promise<void>;

const ZLIB = 'format.revlog-compression=zlib';

const small: History = (session) => commonHistory(session, { large: false });
const smallAscii: History = (session) => commonHistory(session, { large: false, anyBytes: false });

const splitOnly = async (session: HgSession): Promise<void> => {
  const work = new Committer(session);
  work.write('large.bin', noise(131_072, 1));
  work.write('small.txt', sourceText(20, 1));
  await work.commit('a file too large to stay inline');
  const changed = noise(131_072, 1);
  changed.fill(0x20, 1000, 1100);
  work.write('large.bin', changed);
  await work.commit('change it');
};

const BUILDS: Readonly<Record<FixtureName, Build>> = {
  'default-zlib': made([ZLIB], small),
  'zstd': made(['format.revlog-compression=zstd'], small),
  'no-generaldelta': made([ZLIB, 'format.usegeneraldelta=no', 'format.sparse-revlog=no'], small),
  'version-0': version0([], small),
  'no-store': made([ZLIB, 'format.usestore=no'], smallAscii),
  'split': made([ZLIB], splitOnly),
  'tree-manifests': made([ZLIB, 'experimental.treemanifest=yes'], small),
  'censored': censored,
  'delta-info': made([ZLIB, 'format.use-delta-info-flags=yes'], small),
};

const NEEDS_NEWEST: ReadonlySet<FixtureName> = new Set<FixtureName>(['delta-info']);

/** Leaves nothing but `.hg`, and in it nothing that differs from run to run. */
function tidy(hg: string, folder: string): void {
  runHgOk(hg, ['update', '--clean', 'null'], { cwd: folder });
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    if (name.toString() === '.hg') continue;
    rmSync(Buffer.concat([Buffer.from(`${folder}/`), name]), { recursive: true });
  }
  for (const name of ['cache', 'wcache', 'dirstate', 'undo.dirstate', 'undo.backup.dirstate', 'undo.backup.dirstate.bck']) {
    rmSync(join(folder, '.hg', name), { recursive: true, force: true });
  }
}

function pack(parent: string, name: FixtureName): void {
  const reproducible = ['--sort=name', '--mtime=@1500000000', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const archive = execFileSync('tar', ['-c', ...reproducible, '-C', parent, '--format=gnu', name], { maxBuffer: 1 << 26 });
  mkdirSync(join(fixtureFile(name), '..'), { recursive: true });
  execFileSync('sh', ['-c', 'gzip -9 -n > "$1"', 'sh', fixtureFile(name)], { input: archive });
}

async function makeFixtures(names: readonly FixtureName[]): Promise<void> {
  const parent = mkdtempSync(join(tmpdir(), 'revconvert-fixtures-'));
  try {
    for (const name of names) {
      const hg = NEEDS_NEWEST.has(name) ? process.env['HG_NEWEST'] : (process.env['HG'] ?? 'hg');
      if (hg === undefined) {
        console.log(`${name}: left as it is; set HG_NEWEST to make it`);
        continue;
      }
      const folder = join(parent, name);
      await BUILDS[name](hg, folder);
      tidy(hg, folder);
      pack(parent, name);
      console.log(`${name}: ${statSync(fixtureFile(name)).size} bytes`);
    }
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

async function makeExample(): Promise<void> {
  const hg = process.env['HG'] ?? 'hg';
  const folder = join(PROJECT_ROOT, 'examples', 'repository');
  rmSync(folder, { recursive: true, force: true });
  await made([ZLIB], exampleHistory)(hg, folder);
  tidy(hg, folder);
  const unwanted = /^(undo.*|last-message\.txt|branch)$/;
  for (const place of [join(folder, '.hg'), join(folder, '.hg', 'store')]) {
    for (const name of readdirSync(place)) if (unwanted.test(name)) rmSync(join(place, name));
  }
  console.log(runHgOk(hg, ['verify'], { cwd: folder }));
  rmSync(join(folder, '.hg', 'cache'), { recursive: true, force: true });
  rmSync(join(folder, '.hg', 'wcache'), { recursive: true, force: true });
}

const isFixtureName = (name: string): name is FixtureName => Object.hasOwn(FIXTURES, name);

const [what, ...rest] = process.argv.slice(2);
const known = Object.keys(FIXTURES).filter(isFixtureName);
const unknown = rest.filter((name) => !isFixtureName(name));
if (what === 'fixtures' && unknown.length === 0) {
  await makeFixtures(rest.length === 0 ? known : known.filter((name) => rest.includes(name)));
} else if (what === 'example' && rest.length === 0) {
  await makeExample();
} else {
  console.error(`usage: make-fixtures fixtures [${known.join('|')}]...\n       make-fixtures example`);
  process.exitCode = 2;
}
