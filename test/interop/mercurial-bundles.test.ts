/**
 * The bundles of Mercurial's own test suite, of many versions and years: each is made every kind of bundle that can hold it, or
 * refused for a reason that is right. They are brought by test/support/mercurial_bundles.sh; the environment variable
 * HG_TEST_BUNDLES names the folder.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createReadStream, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { inflateSync } from 'node:zlib';

import { describe, it } from 'mocha';

import { convertBundle } from '../../src/index.js';
import { checkSameHistory } from '../support/after-conversion.js';
import { callHg, runHgOk } from '../support/hg-session.js';
import { requireMercurials } from '../support/mercurial.js';
import { useTempFolder } from '../support/temp-folder.js';

/** Each is made a repository of, by Mercurial. */
const PLAIN = ['none-v1', 'none-v2', 'none-v2;cg.version=03'] as const;

/** Of these the body is that of the plain one, by another hand; where it begins, and what undoes it. */
const COMPRESSED: readonly (readonly [target: string, plain: (typeof PLAIN)[number], start: number, decompress: (body: Buffer) => Buffer])[] = [
  ['gzip-v1', 'none-v1', 6, inflateSync],
  ['bzip2-v1', 'none-v1', 4, (body) => program('bzip2', body)],
  ['gzip-v2', 'none-v2', 22, inflateSync],
  ['bzip2-v2', 'none-v2', 22, (body) => program('bzip2', body)],
  ['zstd-v2', 'none-v2', 22, (body) => program('zstd', body)],
];

const START: Readonly<Record<(typeof PLAIN)[number], number>> = { 'none-v1': 6, 'none-v2': 8, 'none-v2;cg.version=03': 8 };

function program(name: string, input: Buffer): Buffer {
  const { status, stdout, stderr } = spawnSync(name, ['-dc'], { input, maxBuffer: 1 << 28 });
  assert.equal(status, 0, stderr.toString());
  return stdout;
}

const folder = process.env['HG_TEST_BUNDLES'] ?? '';

const bundles = folder === '' ? [] : readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.hg')).sort();

const convert = async (source: string, target: string): Promise<Buffer> => buffer((await convertBundle(createReadStream(source), { to: target })).bytes);

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
      const plain = new Map<string, Buffer>();
      for (const target of PLAIN) plain.set(target, await convert(source, target));
      for (const [target, like, start, decompress] of COMPRESSED) {
        const body = decompress((await convert(source, target)).subarray(start));
        assert.ok(body.equals(plain.get(like)?.subarray(START[like]) ?? Buffer.alloc(0)), target);
      }
      for (const [i, { hg }] of requireMercurials(this).entries()) {
        const expected = unbundle(hg, source, `expected-${i}`);
        // Of the newer Mercurial one is enough: what differs between the targets is not its business.
        for (const [j, target] of (i === 0 ? PLAIN : PLAIN.slice(1, 2)).entries()) {
          const file = temporary(`${i}-${j}.hg`);
          writeFileSync(file, plain.get(target) ?? '');
          const found = unbundle(hg, file, `found-${i}-${j}`);
          assert.equal(found.status, expected.status, `${target}: ${found.output}`);
          if (expected.status === 0) checkSameHistory({ hg, source: expected.repository, destination: found.repository, scratch: '', verifyClean: true });
        }
      }
    });
  }
});
