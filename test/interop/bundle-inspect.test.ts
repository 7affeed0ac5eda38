/** What is printed of bundles, against what Mercurial prints of them. */
import assert from 'node:assert/strict';
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import { inspectBundle } from '../../src/bundles/inspect/inspect-bundle.js';
import { createBundleRenderer } from '../../src/cli/render-bundle.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import { bundle2, i32, partHeader, payload } from '../support/bundle-builder.js';
import { configArguments, runHgOk, withHg } from '../support/hg-session.js';
import { commonHistory } from '../support/histories.js';
import { requireMercurials } from '../support/mercurial.js';
import { bookmark, branch, marker0, marker1, phaseHead, same } from '../support/payload-builder.js';
import { useTempFolder } from '../support/temp-folder.js';

const CONFIG = ['experimental.changegroup3=yes', 'experimental.evolution=all', 'server.uncompressed=yes', 'server.uncompressedallowsecret=yes', 'phases.publish=no'];

/** Latin-1: one character a byte. */
async function printed(file: string, all: boolean): Promise<string> {
  const render = createBundleRenderer(all);
  const lines: string[] = [];
  for await (const records of inspectBundle(readBundleItems(createReadStream(file)), { revisions: all ? 'all' : 'changesets' })) lines.push(...records.map(render));
  return lines.join('');
}

const part = (type: string, id: number, bytes: Buffer, mandatory: readonly (readonly [string, string])[] = [], advisory: readonly (readonly [string, string])[] = []): Buffer =>
  Buffer.concat([partHeader(type, id, mandatory, advisory), payload(bytes)]);

const HAND_MADE: Readonly<Record<string, Buffer>> = {
  phases: bundle2(part('PHASE-HEADS', 0, Buffer.concat([32, 0, 96, 2, 1, 0].map((phase, i) => phaseHead(phase, same(i + 1)))))),
  'markers of version 1': bundle2(
    part(
      'OBSMARKERS',
      0,
      Buffer.concat([
        Buffer.from([1]),
        marker1({
          predecessor: same(0xcc),
          successors: [same(2), same(1)],
          parents: [same(3), same(4)],
          flags: 1,
          seconds: 1234567.5,
          minutes: -330,
          metadata: [['user', "it's"], ['note', 'say "hi" it\'s'], ['a', 'tab\t nl\n \\ \x7f\xff\x00'], ['a', 'again "it"']],
        }),
        marker1({ predecessor: same(0xaa), parents: [], seconds: -5.5, minutes: 90 }),
        marker1({ predecessor: same(0xaa), successors: [same(9)], flags: 4, seconds: 4e9, minutes: -330 }),
        marker1({ predecessor: same(0xaa), successors: [same(8)], flags: 12, seconds: -1e10 }),
        marker1({ predecessor: same(0x11, 32), successors: [same(0x22, 32)], flags: 2, seconds: 2147483647, minutes: 330 }),
      ]),
    ),
  ),
  'markers of version 0': bundle2(
    part(
      'OBSMARKERS',
      0,
      Buffer.concat([
        Buffer.from([0]),
        marker0(same(0xbb), [same(1)], 0, `date:12.5 3600\0user:me\0p2:${'55'.repeat(20)}\0p1:${'44'.repeat(20)}`),
        marker0(same(0xba), [], 0, 'user:me\0p0:'),
        marker0(same(0xb0), [], 3, ''),
        marker0(same(0xb1), [], 3, 'x:y:z\0date:5 0'),
        marker0(same(0xb2), [], 255, 'date:1.9999999 -60'),
        marker0(same(0xb2), [], 3, 'date:-5.5 0'),
      ]),
    ),
  ),
  'other parts': bundle2(
    part('BOOKMARKS', 0, bookmark('foo', same(1))),
    part('hgtagsfnodes', 1, Buffer.concat([same(1), same(2)]), [['zz', '1'], ['aa', 'x y, z: \xe9']], [['bb', '']]),
    part('cache:rev-branch-cache', 2, branch('default', [same(1)], [])),
    part('output', 3, Buffer.from('some text\n')),
  ),
};

/** The same with parameters of the stream. */
const withStreamParameters = (bundle: Buffer, parameters: string): Buffer => Buffer.concat([bundle.subarray(0, 4), i32(parameters.length), Buffer.from(parameters), bundle.subarray(8)]);

describe('what is printed of a bundle', () => {
  const temporary = useTempFolder();

  it('is what Mercurial prints of its own', async function () {
    this.timeout(120_000);
    for (const { hg, version } of requireMercurials(this)) {
      const at = (name: string): string => temporary(`${version}/${name}`);
      mkdirSync(temporary(version));
      runHgOk(hg, ['init', ...configArguments(['format.obsstore-version=1']), at('source')]);
      await withHg(hg, at('source'), CONFIG, async (session) => {
        await commonHistory(session);
        await session.run('debugobsolete', '1'.repeat(40), '2'.repeat(40), '--date', '1000000 -7200', '--user', 'Bob é', '--flags', '1');
        await session.run('debugobsolete', (await session.run('log', '--rev', 'tip', '--template', '{node}')).trim(), '--record-parents', '--date', '0 3600');
      });
      for (const [i, type] of [
        'none-v1',
        'gzip-v1',
        'bzip2-v1',
        'none-v2',
        'gzip-v2',
        'bzip2-v2',
        'zstd-v2',
        'none-v2;cg.version=03',
        'none-v2;obsolescence=yes;phases=yes',
      ].entries()) {
        const file = at(`${i}.hg`);
        runHgOk(hg, ['--repository', at('source'), 'bundle', '--quiet', '--all', '--hidden', '--type', type, file], { config: CONFIG });
        assert.equal(await printed(file, false), runHgOk(hg, ['debugbundle', file]), `${version}: ${type}`);
        const [found, expected] = [await printed(file, true), runHgOk(hg, ['debugbundle', '--all', file])];
        if (!type.endsWith('=03')) {
          assert.equal(found, expected, `${version}: ${type}, all`);
          continue;
        }
        // Of version 03 Mercurial prints no files: it takes the end of the directories for that of all.
        const lines = found.split('\n');
        const missing = lines.filter((line) => !expected.split('\n').includes(line));
        assert.deepEqual(lines.filter((line) => !missing.includes(line) && line !== ''), expected.split('\n').filter((line) => line !== ''));
        assert.ok(missing.length > 10);
      }
    }
  });

  it('is what it prints of stream clones, and of packed1 more than a stack trace', async function () {
    for (const { hg, version } of requireMercurials(this)) {
      const at = (name: string): string => temporary(`${version}/${name}`);
      mkdirSync(temporary(version));
      runHgOk(hg, ['init', at('source')]);
      writeFileSync(at('source/a'), 'a\n');
      runHgOk(hg, ['commit', '--addremove', '--quiet', '--message', 'a'], { cwd: at('source') });
      runHgOk(hg, ['--repository', at('source'), 'bundle', '--quiet', '--all', '--type', 'none-v2;stream=v2', at('stream2.hg')], { config: CONFIG });
      for (const all of [false, true]) assert.equal(await printed(at('stream2.hg'), all), runHgOk(hg, ['debugbundle', ...(all ? ['--all'] : []), at('stream2.hg')]));
      const said = runHgOk(hg, ['--repository', at('source'), 'debugcreatestreamclonebundle', at('packed1.hg')]);
      const [, bytes, files] = /writing (\d+) bytes for (\d+) files/.exec(said) ?? [];
      const lines = (await printed(at('packed1.hg'), true)).split('\n');
      assert.match(lines[0] ?? '', new RegExp(`^packed1 -- \\{bytecount: ${bytes ?? '?'}, filecount: ${files ?? '?'}, requirements: generaldelta%2C\\S+\\} \\(mandatory: True\\)$`));
      assert.equal(lines.length - 2, Number(files));
      assert.ok(lines.some((line) => /^ {4}data\/a\.i \d+$/.test(line)));
    }
  });

  for (const [name, bytes] of Object.entries(HAND_MADE)) {
    it(`is what it prints of ${name}`, async function () {
      for (const { hg, version } of requireMercurials(this)) {
        const file = temporary(`${version}.hg`);
        for (const parameters of ['', 'foo=bar%20x a=b%2C']) {
          writeFileSync(file, withStreamParameters(bytes, parameters));
          for (const all of [false, true]) assert.equal(await printed(file, all), runHgOk(hg, ['debugbundle', ...(all ? ['--all'] : []), file]), version);
        }
      }
    });
  }
});
