import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import { loadFilter } from '../../src/bundles/filter-module.js';
import type { BundleItem } from '../../src/formats/bundle/items.js';
import { hunk, NULL, tinyBundle } from '../support/bundle-builder.js';
import { bundleItems, changegroupPart, CHANGELOG, file, groupItems, makeRevisions, MANIFEST } from '../support/changegroup-items.js';
import { COMMAND, shell } from '../support/commands.js';
import { useTempFolder } from '../support/temp-folder.js';

const CHANGESETS = makeRevisions([{ text: 'c0' }, { text: 'c1', p1: 0, base: 0, delta: hunk(1, 2, '1') }]);

const ITEMS = bundleItems(changegroupPart('02'), [
  ...groupItems(CHANGELOG, CHANGESETS),
  ...groupItems(MANIFEST, makeRevisions([{ text: 'm' }])),
  ...groupItems(file('a'), makeRevisions([{ text: 'a' }])),
  ...groupItems(file('b'), makeRevisions([{ text: 'b' }, { text: 'bb', p1: 0 }])),
  ...groupItems(file('\xc3\xa9'), makeRevisions([{ text: 'e' }])),
]);

describe('a filter of the user', () => {
  const temporary = useTempFolder();

  async function run(source: string, items: readonly BundleItem[] = ITEMS): Promise<{ readonly items: BundleItem[]; readonly notices: string[] }> {
    const path = temporary('filter.mjs');
    writeFileSync(path, source);
    const notices: string[] = [];
    const stage = await loadFilter(path, { onNotice: (notice) => notices.push(notice) });
    const after: BundleItem[] = [];
    for (const item of items) after.push(...[await stage(item)].flat());
    stage.close?.();
    return { items: after, notices };
  }

  it('sees parts, groups and revisions, and says something at the end', async () => {
    const { items, notices } = await run(`
      const seen = [];
      export default {
        onPart(part) { seen.push(part.type); },
        onGroup(group) { seen.push(group.kind + ' ' + group.name); },
        onRevision(revision, group) { seen.push(revision.node.slice(0, 4) + '<' + revision.p1.slice(0, 4) + '|' + revision.deltaBytes); },
        onEnd() { return seen.join(', '); },
      };`);
    assert.deepEqual(items, ITEMS);
    const short = (node: Uint8Array | undefined): string => Buffer.from(node ?? NULL).toString('hex').slice(0, 4);
    const [c0, c1] = CHANGESETS;
    assert.equal(notices.length, 1);
    assert.ok(notices[0]?.startsWith(`changegroup, changelog , ${short(c0?.node)}<0000|14, ${short(c1?.node)}<${short(c0?.node)}|13, manifest , `), notices[0]);
    assert.ok(notices[0]?.includes('filelog é'));
  });

  it('gets texts of the kinds that it wants, and copies of deltas', async () => {
    const { items, notices } = await run(`
      const said = [];
      export default () => ({
        texts: ['changelog'],
        onRevision(revision, { kind }) {
          const text = revision.text();
          said.push(kind + ' ' + (text === undefined ? '-' : Buffer.from(text)));
          text?.fill(0);
          revision.delta().fill(0);
        },
        async onEnd() { return said.join(', '); },
      });`);
    assert.deepEqual(items, ITEMS);
    assert.deepEqual(notices, ['changelog c0, changelog c1, manifest -, filelog -, filelog -, filelog -, filelog -']);
  });

  it('leaves out files, and whoever runs it hears of it', async () => {
    const { items, notices } = await run(`export default { onGroup: ({ name, kind }) => (kind === 'filelog' && name !== 'a' ? 'drop' : 'keep') };`);
    assert.deepEqual(items, ITEMS.filter((item) => !('group' in item) || item.group.kind !== 'filelog' || item.group.name === 'a'));
    assert.equal(notices.length, 1);
    assert.match(notices[0] ?? '', /left out 2 files \(b, é\): the bundle is partial\. Its manifests still name what is missing/);
  });

  for (const [what, source, message, at] of [
    ['drops the changelog', `export default { onGroup: () => 'drop' };`, /^onGroup must not drop the changelog/, { group: 'changelog' }],
    ['drops manifests', `export default { onGroup: ({ kind }) => (kind === 'manifest' ? 'drop' : undefined) };`, /^onGroup must not drop manifests/, { group: 'manifest' }],
    ['wants a revision dropped', `export default { onRevision: () => 'drop' };`, /^onRevision must return nothing, found "drop": single revisions can be neither dropped nor changed/, { group: 'changelog', offset: 1000 }],
    ['returns another revision', `export default { onRevision: (revision) => ({ ...revision, flags: 1 }) };`, /^onRevision must return nothing, found a value of type object/, { group: 'changelog' }],
    ['changes a node', `export default { onRevision(revision) { revision.node = ''; } };`, /^onRevision threw: Cannot assign to read only property 'node'/, { group: 'changelog' }],
    ['changes a group', `export default { onGroup(group) { group.name = 'b'; } };`, /^onGroup threw: Cannot assign to read only property 'name'/, { group: 'changelog' }],
    ['drops a part', `export default { onPart: () => 'drop' };`, /^onPart must return nothing, found "drop": --drop-part leaves parts out$/, { part: 'changegroup' }],
    ['answers something else', `export default { onGroup: () => false };`, /^onGroup must return 'keep', 'drop' or nothing, found a value of type boolean$/, { group: 'changelog' }],
    ['answers later', `export default { onGroup: async () => 'keep' };`, /^onGroup returned a promise: it must answer at once$/, { group: 'changelog' }],
    ['throws', `export default { onRevision() { throw new Error('no'); } };`, /^onRevision threw: no$/, { group: 'changelog' }],
    ['throws at the end', `export default { onEnd() { throw new Error('no'); } };`, /^onEnd threw: no$/, {}],
    ['fails at the end', `export default { onEnd: () => Promise.reject(new Error('no')) };`, /^onEnd threw: no$/, {}],
    ['says no text at the end', `export default { onEnd: () => 3 };`, /^onEnd must return a text or nothing, found a value of type number$/, {}],
    ['asks for a text too late', `let kept; export default { texts: ['changelog'], onRevision(one) { if (kept) kept.text(); kept = one; } };`, /^onRevision threw: text\(\) can be called in onRevision only/, { offset: 1001 }],
    ['is no module', `export default {`, /^cannot be loaded: /, {}],
    ['exports nothing', `export const onGroup = 1;`, /^the default export must be an object with onPart, onGroup, onRevision, onEnd, or a function/, {}],
    ['is misspelt', `export default { onRevisions() {} };`, /^'onRevisions' is not known: a filter has onPart, onGroup, onRevision, onEnd, and texts$/, {}],
    ['has no function', `export default { onGroup: 'drop' };`, /^onGroup must be a function$/, {}],
    ['does nothing', `export default {};`, /^it does nothing/, {}],
    ['wants texts of what there is not', `export default { texts: ['files'], onEnd() {} };`, /^texts must be a list of changelog, manifest, filelog$/, {}],
    ['returns what traps whoever looks at it', `export default { onRevision: () => ({ get then() { throw new Error('no'); } }) };`, /^onRevision threw: no$/, { group: 'changelog' }],
    ['returns a promise that throws', `export default { onGroup: () => ({ then() { throw new Error('no'); } }) };`, /^onGroup returned a promise/, { group: 'changelog' }],
    ['traps whoever looks at it', `export default new Proxy({}, { get() { throw new Error('no'); }, ownKeys() { throw new Error('no'); } });`, /^cannot be looked at: no$/, {}],
    ['has a getter that throws', `export default { get onPart() { throw new Error('no'); } };`, /^cannot be looked at: no$/, {}],
    ['cannot be made', `export default () => { throw new Error('no'); };`, /^its default export is a function, which threw: no$/, {}],
  ] as const) {
    it(`is refused where it ${what}`, async () => {
      await assert.rejects(run(source), (error: { code?: unknown; message: string; at: Readonly<Record<string, unknown>> }) => {
        assert.equal(error.code, 'FILTER_MODULE', error.message);
        assert.match(error.message, message);
        assert.equal(error.at['path'], temporary('filter.mjs'));
        for (const [name, value] of Object.entries(at)) assert.equal(error.at[name], value);
        return true;
      });
    });
  }

  const NEVER = 'new Promise(() => {})';
  for (const [what, source, message] of [
    ['is never loaded', `await ${NEVER}; export default {};`, /cannot be loaded: its promise is never settled/],
    ['is never made', `export default () => ${NEVER};`, /which threw: its promise is never settled/],
    ['never ends', `export default { onEnd: () => ${NEVER} };`, /onEnd threw: its promise is never settled/],
    ['throws where nobody catches', `export default { onGroup() {}, onEnd: () => new Promise((resolve) => setTimeout(() => { setTimeout(resolve, 1); throw new Error('late'); }, 1)) };`, /a filter threw where nobody catches: late/],
    ['leaves a promise that is rejected', `Promise.reject(new Error('left')); export default { onGroup() {} };`, /a filter threw where nobody catches: left/],
    ['ends the process as if all were well', `export default { onPart() { process.exit(0); } };`, /a filter ended the process before its work was done/],
    ['keeps the process', `setInterval(() => {}, 1000); export default { onGroup: () => 5 };`, /onGroup must return/],
  ] as const) {
    it(`ends the command with a word where it ${what}`, () => {
      writeFileSync(temporary('filter.mjs'), source);
      writeFileSync(temporary('in.hg'), tinyBundle());
      const { status, stdout, stderr } = shell(`"${process.execPath}" "${COMMAND}" bundle --filter ./filter.mjs in.hg out.hg`, {}, temporary());
      assert.equal(status, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr.split('\n')[0] ?? '', message);
      assert.match(stderr, /^revconvert: FILTER_MODULE: /);
      assert.ok(!/^ {4}at /m.test(stderr), stderr);
      const left = readdirSync(temporary()).filter((name) => name !== 'in.hg' && name !== 'filter.mjs');
      if (!source.includes('process.exit')) assert.deepEqual(left, []);
      assert.ok(!left.includes('out.hg'));
    });
  }

  it('that leaves something behind does not keep the command that is done', () => {
    writeFileSync(temporary('filter.mjs'), `setInterval(() => {}, 1000); export default { onEnd: () => 'done' };`);
    writeFileSync(temporary('in.hg'), tinyBundle());
    const { status, stderr } = shell(`"${process.execPath}" "${COMMAND}" bundle --filter ./filter.mjs in.hg out.hg`, {}, temporary());
    assert.deepEqual([status, stderr], [0, 'revconvert: note: done\n']);
    assert.deepEqual(readFileSync(temporary('out.hg')), tinyBundle());
  });

  it('is refused where there is no such file', async () => {
    await assert.rejects(loadFilter(temporary('nowhere.mjs')), { code: 'FILTER_MODULE', message: /^cannot be loaded: / });
  });
});
