/** What `hg verify` finds, `revconvert verify` finds; what is clean to it, is clean to us. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { after, before, describe, it } from 'mocha';

import type { VerifyReport } from '../../src/index.js';
import { describeError, verifyRepository } from '../../src/index.js';
import { Chance } from '../bad-input/mutations.js';
import { callHg, hgVersion } from '../support/hg-session.js';
import { smallHistory } from '../support/histories.js';
import { buildDamage, HISTORY_DAMAGES, LEGAL_ODDITIES } from '../support/history-damages.js';
import type { Layout } from '../support/layouts.js';
import { LAYOUTS, made } from '../support/layouts.js';
import type { Mercurial } from '../support/mercurial.js';
import { findMercurial, newestHg, requireMercurial } from '../support/mercurial.js';
import { useTempFolder } from '../support/temp-folder.js';

const verify = (path: string): Promise<VerifyReport> => verifyRepository(path, { jobs: 1, lock: false });

const linesOf = ({ damage, warnings }: VerifyReport): string[] => [...damage, ...warnings].map((fault) => `${fault.code}: ${describeError(fault)}`);

const TOP = new Set(['00changelog.i', '00manifest.i']);

/** What one line of `hg verify` is about: ` file@3: …`, ` manifest@?: …`, ` 7: …`. */
function revlogOf(line: string): string | undefined {
  const [, missing] = /^ (?:\d+|\?): empty or missing (.*)$/.exec(line) ?? [];
  if (missing !== undefined) return TOP.has(`00${missing}.i`) ? `00${missing}.i` : `data/${missing}.i`;
  const [, file] = /^ (.*?)@(?:\d+|\?): /.exec(line) ?? [];
  if (file === undefined) return /^ (?:\d+|\?): /.test(line) ? '00changelog.i' : undefined;
  if (file === 'manifest') return '00manifest.i';
  return file === 'changelog' ? '00changelog.i' : `data/${file}.i`;
}

/**
 * Whether a revlog that `hg verify` names is named by us, at its place or in the message of another fault; or was not
 * compared, and it is said that the changelog or manifest is why.
 */
function isCovered(revlog: string, { damage, unchecked }: VerifyReport): boolean {
  if (damage.some(({ at, message }) => at.path === revlog || message.includes(revlog) || message.includes(revlog.slice('data/'.length, -2)))) return true;
  return damage.some(({ at, code }) => TOP.has(at.path ?? '') && (unchecked > 0 || code === 'REVLOG_MISSING' || code === 'REVISION_MISSING'));
}

function assertCovers(output: string, status: number, report: VerifyReport): void {
  const both = `${output}\n---\n${linesOf(report).join('\n')}`;
  if (status !== 0) assert.ok(report.damage.length > 0, both);
  if (/^ ?warning: /m.test(output)) assert.ok(report.damage.length + report.warnings.length > 0, both);
  for (const line of output.split('\n')) {
    const revlog = revlogOf(line);
    if (revlog === undefined || (line.endsWith('not in manifests') && isCovered('00manifest.i', report))) continue;
    assert.ok(isCovered(revlog, report), `not found: ${line}\n${both}`);
  }
}

function testDamages({ hg, version }: Mercurial): void {
  describe(`verify beside Mercurial ${version}: damages`, () => {
    const temporary = useTempFolder();
    for (const damage of HISTORY_DAMAGES) {
      it(damage.title, async () => {
        buildDamage(temporary('src'), damage);
        const { status, output } = callHg(hg, ['verify'], { cwd: temporary('src') });
        assertCovers(output, status, await verify(temporary('src')));
      });
    }
    for (const odd of LEGAL_ODDITIES) {
      it(`legal: ${odd.title}`, async () => {
        buildDamage(temporary('src'), odd);
        if (odd.hgOnly === undefined) assert.equal(callHg(hg, ['verify'], { cwd: temporary('src') }).status, 0);
        assert.deepEqual(linesOf(await verify(temporary('src'))), []);
      });
    }
  });
}

const isBuiltBy = ({ minVersion: [needMajor, needMinor] = [0, 0] }: Layout, [major, minor]: readonly [number, number]): boolean =>
  major > needMajor || (major === needMajor && minor >= needMinor);

function testLayouts({ hg, version: name }: Mercurial): void {
  const version = hgVersion(hg);
  describe(`verify beside Mercurial ${name}: layouts`, () => {
    const temporary = useTempFolder();
    for (const layout of LAYOUTS.filter((one) => one.expectRefusal === undefined && isBuiltBy(one, version))) {
      it(`${layout.name}: nothing to say, and the same counts`, async () => {
        await layout.build(hg, temporary('src'));
        const report = await verify(temporary('src'));
        assert.deepEqual(linesOf(report), []);
        const { output } = callHg(hg, ['verify'], { cwd: temporary('src'), config: layout.config ?? [] });
        const [, changesets, changes, files] = /checked (\d+) changesets with (\d+) changes to (\d+) files/.exec(output) ?? [];
        assert.deepEqual([report.changesets, report.fileRevisions, report.files], [changesets, changes, files].map(Number), output);
      });
    }
  });
}

const FLIPS = 30;

function testFlips({ hg, version }: Mercurial): void {
  describe(`verify beside Mercurial ${version}: a bit flipped by chance`, () => {
    let root = '';
    let sources: string[] = [];
    before(async () => {
      root = mkdtempSync(join(tmpdir(), 'revconvert-verify-'));
      sources = ['flat', 'tree'].map((name) => join(root, name));
      await made(['format.revlog-compression=zlib'], smallHistory)(hg, join(root, 'flat'));
      await made(['format.revlog-compression=zlib', 'experimental.treemanifest=yes'], smallHistory)(hg, join(root, 'tree'));
    });
    after(() => rmSync(root, { recursive: true, force: true }));

    for (let seed = 0; seed < FLIPS; seed++) {
      it(`seed ${seed}: whatever hg verify complains about, so do we`, async () => {
        const chance = new Chance(seed);
        const copy = join(root, `copy-${seed}`);
        spawnSync('cp', ['-a', chance.pick(sources), copy]);
        const store = join(copy, '.hg', 'store');
        const files = readdirSync(store, { recursive: true, encoding: 'utf8' }).filter((name) => /^(?:00|data|meta|dh).*\.[id]$/.test(name)).sort();
        const name = chance.pick(files);
        const bytes = readFileSync(join(store, name));
        const at = chance.below(bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8));
        writeFileSync(join(store, name), bytes);
        const { status, output } = callHg(hg, ['verify'], { cwd: copy });
        const report = await verify(copy);
        if (status !== 0) assert.ok(report.damage.length > 0, `byte ${at} of ${name}\n${output}`);
      });
    }
  });
}

const found = [findMercurial(), newestHg()].filter((one) => one !== undefined);
const mercurials = found.filter((one, i) => found.findIndex(({ hg }) => hg === one.hg) === i);
for (const mercurial of mercurials) {
  testDamages(mercurial);
  testLayouts(mercurial);
  testFlips(mercurial);
}
if (mercurials.length === 0) {
  describe('verify beside Mercurial', () => {
    it('needs Mercurial', function () {
      requireMercurial(this);
    });
  });
}
