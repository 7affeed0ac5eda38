/** Bundles of every kind made of bundles of every kind, and looked at by Mercurial. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

import { describe, it } from 'mocha';

import { convertBundle } from '../../src/index.js';
import { checkSameHistory } from '../support/after-conversion.js';
import { runHgOk, withHg } from '../support/hg-session.js';
import { commonHistory } from '../support/histories.js';
import type { Mercurial } from '../support/mercurial.js';
import { requireMercurials } from '../support/mercurial.js';
import { useTempFolder } from '../support/temp-folder.js';

const KINDS = ['none-v1', 'gzip-v1', 'bzip2-v1', 'none-v2', 'gzip-v2', 'bzip2-v2', 'zstd-v2', 'zstd-v2;cg.version=03'] as const;

/** For a second Mercurial: one of each container and version. The compressions are the same. */
const FEWER_KINDS: readonly (typeof KINDS)[number][] = ['gzip-v1', 'none-v2', 'zstd-v2', 'zstd-v2;cg.version=03'];

/** Of these Mercurial does not say so by default that it writes them. */
const CONFIG = ['experimental.changegroup3=yes'];

const changesetsOf = (hg: string, bundle: string): string[] =>
  runHgOk(hg, ['debugbundle', bundle])
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^[0-9a-f]{40}$/.test(line));

/** Makes a repository of a bundle, by Mercurial. */
function unbundle(hg: string, bundle: string, folder: string): void {
  runHgOk(hg, ['init', folder]);
  runHgOk(hg, ['--repository', folder, 'unbundle', '--quiet', bundle], { config: CONFIG });
}

async function convert(from: string, to: string, kind: string): Promise<string> {
  const { bytes } = await convertBundle(createReadStream(from), { to: kind });
  const made = await buffer(bytes);
  writeFileSync(to, made);
  return createHash('sha256').update(made).digest('hex');
}

describe('bundles of one kind made another', () => {
  const temporary = useTempFolder();

  const build = async ({ hg, version }: Mercurial): Promise<(name: string) => string> => {
    const folder = temporary(version);
    mkdirSync(folder);
    const at = (name: string): string => `${folder}/${name.replace(/[;=]/g, '-')}`;
    runHgOk(hg, ['init', at('source')]);
    await withHg(hg, at('source'), [], (session) => commonHistory(session));
    for (const kind of KINDS) runHgOk(hg, ['--repository', at('source'), 'bundle', '--quiet', '--all', '--type', kind, at(`${kind}.hg`)], { config: CONFIG });
    return at;
  };

  it('make the repository that the source makes: every source, every target', async function () {
    this.timeout(300_000);
    for (const [i, mercurial] of requireMercurials(this).entries()) {
      const { hg } = mercurial;
      const kinds = i === 0 ? KINDS : FEWER_KINDS;
      const at = await build(mercurial);
      unbundle(hg, at('none-v2.hg'), at('reference'));
      const changesets = changesetsOf(hg, at('none-v2.hg'));
      assert.ok(changesets.length > 10);
      /** Made of several sources, these bytes need to be looked at once. */
      const known = new Set<string>();
      for (const source of kinds) {
        for (const target of kinds) {
          const made = at(`${source}-to-${target}.hg`);
          const hash = await convert(at(`${source}.hg`), made, target);
          if (known.has(hash)) continue;
          known.add(hash);
          assert.deepEqual(changesetsOf(hg, made), changesets, `${source} to ${target}`);
          assert.equal(runHgOk(hg, ['debugbundle', '--spec', made]).trim().replace(/;cg\.version=03$/, ''), target.replace(/;.*/, ''), `${source} to ${target}`);
          const folder = at(`from-${source}-${target}`);
          unbundle(hg, made, folder);
          checkSameHistory({ hg, source: at('reference'), destination: folder, scratch: '', verifyClean: true });
        }
      }
      assert.ok(known.size >= kinds.length, 'each target was made');
    }
  });

  it('come out of the same kind as they went in, byte for byte', async function () {
    for (const mercurial of requireMercurials(this)) {
      const at = await build(mercurial);
      for (const kind of ['none-v1', 'none-v2'] as const) {
        const { bytes } = await convertBundle(createReadStream(at(`${kind}.hg`)));
        assert.deepEqual(await buffer(bytes), await buffer(createReadStream(at(`${kind}.hg`))), kind);
      }
    }
  });
});
