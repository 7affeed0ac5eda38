import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { PROJECT_ROOT } from './support/paths.js';
import { useTempFolder } from './support/temp-folder.js';

/** The package as npm would publish it, unpacked into a project of its own; its dependencies are this project's. */
function install(folder: string): void {
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: PROJECT_ROOT, encoding: 'utf8' }).trim();
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  execFileSync('tar', ['xzf', join(folder, packed), '-C', folder]);
  cpSync(join(folder, 'package'), join(modules, 'revconvert'), { recursive: true });
  for (const name of ['yargs', 'stream-chain', 'piscina', 'fflate', 'zstd-napi', '@mongodb-js', 'lz4-napi']) {
    const from = join(PROJECT_ROOT, 'node_modules', name);
    if (existsSync(from)) symlinkSync(from, join(modules, name));
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
}

describe('the package', () => {
  const temporary = useTempFolder();

  it('works when it is installed elsewhere, as a command and as a library, and holds no tests', () => {
    install(temporary());
    const installed = temporary('node_modules/revconvert');
    assert.ok(!existsSync(join(installed, 'dist/test')));
    const example = temporary('example');
    cpSync(join(PROJECT_ROOT, 'examples/repository'), example, { recursive: true });
    execFileSync(process.execPath, [join(installed, 'dist/bin/revconvert.js'), '--to', 'zstd', '--jobs', '2', example, temporary('command')]);
    assert.ok(existsSync(temporary('command/.hg/requires')));
    writeFileSync(
      temporary('use.mjs'),
      `import { convertRepository } from 'revconvert';
       const { revisions } = await convertRepository(${JSON.stringify(example)}, ${JSON.stringify(temporary('library'))}, { to: 'none' });
       console.log(revisions);`,
    );
    assert.equal(execFileSync(process.execPath, [temporary('use.mjs')], { encoding: 'utf8' }), '219\n');
  });
});
