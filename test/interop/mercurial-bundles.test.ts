/**
 * The bundles of Mercurial's own test suite, of many versions and years: each is made every kind of bundle that can hold it, or
 * refused for a reason that is right. They are brought by test/support/mercurial_bundles.sh; the environment variable
 * HG_TEST_BUNDLES names the folder.
 */
import assert from 'node:assert/strict';
import { createReadStream, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';

import { describe, it } from 'mocha';

import { convertBundle } from '../../src/index.js';
import { checkSameHistory } from '../support/after-conversion.js';
import { callHg, runHgOk } from '../support/hg-session.js';
import { requireMercurials } from '../support/mercurial.js';
import { useTempFolder } from '../support/temp-folder.js';

const TARGETS = ['none-v1', 'gzip-v1', 'bzip2-v1', 'none-v2', 'gzip-v2', 'bzip2-v2', 'zstd-v2', 'zstd-v2;cg.version=03'] as const;

const folder = process.env['HG_TEST_BUNDLES'] ?? '';

const bundles = folder === '' ? [] : readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.hg')).sort();

describe('the bundles of the test suite of Mercurial', () => {
  const temporary = useTempFolder();

  if (bundles.length === 0) {
    it('are at hand', function () {
      process.stderr.write('      skipped: no bundles; run test/support/mercurial_bundles.sh FOLDER and set HG_TEST_BUNDLES to what it prints\n');
      this.skip();
    });
  }

  /** Makes a repository of a bundle; what Mercurial says where it cannot. */
  const unbundle = (hg: string, bundle: string, name: string): { readonly repository: string; readonly status: number; readonly output: string } => {
    const repository = temporary(name);
    runHgOk(hg, ['init', repository]);
    return { repository, ...callHg(hg, ['--repository', repository, 'unbundle', '--quiet', bundle], { config: ['experimental.changegroup3=yes'] }) };
  };

  for (const name of bundles) {
    it(`${basename(name)}: every target gives what it gives`, async function () {
      this.timeout(120_000);
      const source = join(folder, name);
      for (const [i, { hg }] of requireMercurials(this).entries()) {
        const expected = unbundle(hg, source, `expected-${i}`);
        const seen = new Set<string>();
        for (const [j, target] of TARGETS.entries()) {
          const { bytes } = await convertBundle(createReadStream(source), { to: target });
          const made = await buffer(bytes);
          const key = made.toString('latin1');
          if (seen.has(key)) continue;
          seen.add(key);
          const file = temporary(`${i}-${j}.hg`);
          writeFileSync(file, made);
          const found = unbundle(hg, file, `found-${i}-${j}`);
          assert.equal(found.status, expected.status, `${target}: ${found.output}`);
          if (expected.status === 0) checkSameHistory({ hg, source: expected.repository, destination: found.repository, scratch: '', verifyClean: true });
        }
      }
    });
  }
});
