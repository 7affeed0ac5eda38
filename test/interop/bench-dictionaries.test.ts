/** The bench of dictionaries runs, and prints its tables, on a history that is small. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { HISTORIES } from '../../bench/dictionaries/workspace.js';
import { runHgOk } from '../support/hg-session.js';
import { requireMercurial } from '../support/mercurial.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { useTempFolder } from '../support/temp-folder.js';

const TABLES = ['languages', 'transfer', 'lengths', 'groups'];

describe('bench:dictionaries: a run on little', () => {
  const inTemp = useTempFolder();

  it('prints every table that was asked for, and writes none into the documents', function () {
    const { hg } = requireMercurial(this);
    if (spawnSync('zstd', ['--version']).status !== 0 || spawnSync('/usr/bin/time', ['true']).status !== 0) this.skip();
    const bundle = inTemp('bundle');
    // A copy: Mercurial writes caches into what it reads.
    cpSync(join(PROJECT_ROOT, 'examples/repository'), inTemp('example'), { recursive: true });
    runHgOk(hg, ['-R', inTemp('example'), 'bundle', '--all', bundle]);
    for (const { name } of HISTORIES) cpSync(bundle, inTemp(`${name}.hg`));
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(PROJECT_ROOT, 'dist/bench/dictionaries.js'), inTemp(), '--rounds', '1', '--print', '--only', TABLES.join(',')], {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: inTemp(), HG_NEWEST: hg },
    });
    assert.equal(status, 0, stderr);
    assert.equal([...stdout.matchAll(/^### /gm)].length, TABLES.length);
    for (const { title } of HISTORIES) assert.ok(stdout.includes(`| ${title} | `), title);
    assert.doesNotMatch(stdout, /NaN|undefined/);
  });
});
