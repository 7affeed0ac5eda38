import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';

import { describe, it } from 'mocha';
import ts from 'typescript';

import { PROJECT_ROOT } from './support/paths.js';

/** The rooms of src/: each imports only from itself and from rooms above it. */
const ROOMS = ['errors', 'formats', 'engines', 'delta', 'streams', 'transforms', 'sinks', 'repository', 'bundles', 'report', 'bulk', 'cli'];

/** Wires the public names together: may import all, and is imported by none. */
const FRONT = 'index.ts';

/** Rooms of pure work on bytes. */
const PURE_ROOMS = ['formats', 'engines', 'delta'];
const FILE_ACCESS = /^(?:node:)?(?:fs|child_process)(?:\/|$)/;

const MAX_LINES = 400;

const SOURCES = join(PROJECT_ROOT, 'src');

interface SourceFile {
  /** From src/ on, with `/`. */
  readonly name: string;
  readonly room: string;
  readonly lines: number;
  /** Names of files in src/, types and dynamic imports included. */
  readonly imports: readonly string[];
  /** Names of packages and of what Node has built in. */
  readonly packages: readonly string[];
}

const roomOf = (name: string): string => name.split('/')[0]?.replace(/\.ts$/, '') ?? '';

function readSource(path: string): SourceFile {
  const name = relative(SOURCES, path).split(sep).join('/');
  const text = readFileSync(path, 'utf8');
  const imported = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  return {
    name,
    room: roomOf(name),
    lines: text.replace(/\n$/, '').split('\n').length,
    imports: imported.filter((one) => one.startsWith('.')).map((one) => posix.join(dirname(name), one).replace(/\.js$/, '.ts')),
    packages: imported.filter((one) => !one.startsWith('.')),
  };
}

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readSource(join(SOURCES, name)));

const byName = new Map(files.map((file) => [file.name, file]));

/** Imports that break a rule, as `from -> to`. */
const imports = (isWrong: (from: SourceFile, to: string) => boolean): string[] =>
  files.flatMap((from) => from.imports.filter((to) => isWrong(from, to)).map((to) => `${from.name} -> ${to}`));

/** The first cycle that can be reached from a file. */
function findCycle(name: string, path: readonly string[], done: Set<string>): readonly string[] | undefined {
  if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
  if (done.has(name)) return undefined;
  for (const next of byName.get(name)?.imports ?? []) {
    const cycle = findCycle(next, [...path, name], done);
    if (cycle !== undefined) return cycle;
  }
  done.add(name);
  return undefined;
}

describe('house rules', () => {
  it('sees static, type-only and dynamic imports', () => {
    assert.ok(byName.get('transforms/decompress.ts')?.imports.includes('streams/stage.ts'));
    assert.ok(byName.get('streams/stage.ts')?.imports.includes('engines/engine.ts'));
    assert.ok(byName.get('engines/registry.ts')?.imports.includes('engines/backends/none.ts'));
    assert.ok(byName.get('streams/byte-source.ts')?.packages.some((one) => FILE_ACCESS.test(one)));
  });

  it('every file is in a room', () => {
    assert.deepEqual(files.filter(({ name, room }) => name !== FRONT && !ROOMS.includes(room)).map(({ name }) => name), []);
  });

  it('every import within src/ names a file that is there', () => {
    assert.deepEqual(imports((_from, to) => !byName.has(to)), []);
  });

  it('no room imports from a room below it', () => {
    assert.deepEqual(imports((from, to) => from.name !== FRONT && ROOMS.indexOf(roomOf(to)) > ROOMS.indexOf(from.room)), []);
  });

  it('nothing imports the front', () => {
    assert.deepEqual(imports((_from, to) => to === FRONT), []);
  });

  it('errors imports nothing', () => {
    assert.deepEqual([byName.get('errors.ts')?.imports, byName.get('errors.ts')?.packages], [[], []]);
  });

  it('formats imports nothing but errors and itself', () => {
    assert.deepEqual(imports(({ room }, to) => room === 'formats' && !['errors', 'formats'].includes(roomOf(to))), []);
  });

  it('formats, engines and delta touch no file and start no process', () => {
    const touching = files.filter(({ room, packages }) => PURE_ROOMS.includes(room) && packages.some((one) => FILE_ACCESS.test(one)));
    assert.deepEqual(touching.map(({ name }) => name), []);
  });

  it('no transform imports another', () => {
    assert.deepEqual(imports(({ room }, to) => room === 'transforms' && roomOf(to) === 'transforms'), []);
  });

  it('no imports go round in a circle', () => {
    const done = new Set<string>();
    for (const { name } of files) assert.equal(findCycle(name, [], done)?.join(' -> '), undefined);
  });

  it(`no file has more than ${MAX_LINES} lines`, () => {
    assert.deepEqual(files.filter(({ lines }) => lines > MAX_LINES).map(({ name, lines }) => `${name}: ${lines}`), []);
  });
});
