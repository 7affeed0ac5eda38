import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { pathWithCommand, shell } from './support/commands.js';
import { PROJECT_ROOT } from './support/paths.js';
import { useTempFolder } from './support/temp-folder.js';

const README = readFileSync(join(PROJECT_ROOT, 'README.md'), 'utf8');

interface Shown {
  readonly command: string;
  readonly output: string;
}

/** The commands of the `console` blocks, each with the output shown below it. */
function shownCommands(): Shown[] {
  const blocks = [...README.matchAll(/```console\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => ({ command: text.split('\n', 1)[0] ?? '', output: text.split('\n').slice(1).join('\n').trimEnd() })),
  );
}

/** What differs from run to run, and what the README leaves out (`…`), matches anything. */
function pattern({ command, output }: Shown): RegExp {
  const escaped = output.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const fixed = escaped.replace(/…/g, '.*').replace(/^time .*$/gm, 'time .*');
  return new RegExp(`^${isAboutDictionaries(command) ? anyFigures(fixed) : fixed}\\s*$`, 's');
}

/** What is trained depends on the version of the program that trains. */
const isAboutDictionaries = (command: string): boolean => /\bdict\b|\/tmp\/example-(?:dict|plain)/.test(command);
const HAS_ZSTD = shell('zstd --version').status === 0;

const anyFigures = (escaped: string): string =>
  escaped.replace(/(?:\\\+|-)?\d[\d,]*(?:\\\.\d+)?(?: (?:bytes|kB|MB))?/g, '\\S+(?: (?:bytes|kB|MB))?').replace(/ {2,}/g, ' +');

const INSTALL = 'npm ci && ';
const TESTS = 'npm ci && npm test';

/** The project with examples of its own: a conversion locks its source, and other tests run at the same time. */
function copyProject(folder: string): string {
  mkdirSync(folder);
  for (const name of ['package.json', 'examples']) cpSync(join(PROJECT_ROOT, name), join(folder, name), { recursive: true });
  for (const name of ['dist', 'node_modules']) symlinkSync(join(PROJECT_ROOT, name), join(folder, name));
  return folder;
}

describe('README', () => {
  const temporary = useTempFolder();

  it('shows commands that work, with the output that they have', () => {
    const [bin, work] = [temporary('bin'), temporary('work')];
    for (const folder of [bin, work]) mkdirSync(folder);
    const project = copyProject(temporary('project'));
    const env = { PATH: pathWithCommand(bin) };
    if (!HAS_ZSTD) process.stderr.write('      left out: commands about dictionaries; there is no zstd program\n');
    for (const shown of shownCommands()) {
      const { command } = shown;
      if (command === TESTS || (!HAS_ZSTD && isAboutDictionaries(command))) continue;
      const line = command.replace(INSTALL, '').replaceAll('/tmp/', `${work}/`);
      const { stdout, stderr } = shell(line, env, project);
      const seen = (stdout + stderr).replaceAll(`${work}/`, '/tmp/').replaceAll(project, '/home/you/revconvert');
      assert.match(seen.trimEnd(), pattern(shown), command);
    }
  });

  it('names the test command that continuous integration runs', () => {
    assert.ok(shownCommands().some(({ command }) => command === TESTS));
    assert.match(readFileSync(join(PROJECT_ROOT, '.ci', 'run'), 'utf8'), /^npm ci && npm test$/m);
  });

  it('links to files that exist', () => {
    const links = [...README.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1] ?? '');
    assert.ok(links.length > 3);
    for (const link of links) assert.ok(existsSync(join(PROJECT_ROOT, link)), link);
  });
});
