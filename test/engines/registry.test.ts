import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

import { describe, it } from 'mocha';

import type { Backend, Engine } from '../../src/engines/engine.js';
import {
  checkLevel,
  ENGINE_NAMES,
  engineOfMarker,
  ENGINES,
  findEngine,
  listAvailableEngines,
  loadEngine,
  packagesOf,
  tryLoadEngine,
} from '../../src/engines/registry.js';
import { assertBytes, compressible, hasCode } from './support.js';

const missing = (name: string): Backend => ({ name, load: () => Promise.resolve(undefined) });

describe('engine registry', () => {
  const facts: readonly (readonly [string, string | undefined, string | undefined, readonly string[]])[] = [
    ['none', undefined, 'exp-compression-none', []],
    ['zlib', 'x', undefined, ['exp-compression-zlib']],
    ['zstd', '(', 'revlog-compression-zstd', ['exp-compression-zstd', 'compenginezstd']],
    ['lz4', '4', 'lz4revlog', []],
  ];
  for (const [name, marker, requirement, legacy] of facts) {
    it(`knows ${name}`, () => {
      const engine = findEngine(name);
      assert.equal(engine.name, name);
      assert.equal(engine.marker, marker?.charCodeAt(0));
      assert.equal(engine.requirement, requirement);
      assert.deepEqual(engine.legacyRequirements, legacy);
      if (engine.marker !== undefined) assert.equal(engineOfMarker(engine.marker), engine);
    });
  }

  it('lists every engine once', () => assert.deepEqual([...ENGINE_NAMES].sort(), Object.keys(ENGINES).sort()));

  it('has no requirement twice', () => {
    const all = ENGINE_NAMES.flatMap((name) => [ENGINES[name].requirement ?? name, ...ENGINES[name].legacyRequirements]);
    assert.equal(new Set(all).size, all.length);
  });

  it('knows no other marker', () => {
    const known = [0x28, 0x34, 0x78];
    for (let byte = 0; byte < 256; byte++) assert.equal(engineOfMarker(byte) !== undefined, known.includes(byte));
  });

  for (const name of ['bzip2', '', 'ZLIB', 'toString', '__proto__']) {
    it(`refuses the name '${name}'`, () => {
      assert.throws(() => findEngine(name), hasCode('ENGINE_UNKNOWN', `'${name}'`, 'none, zlib, zstd, lz4'));
    });
  }

  const levels: readonly (readonly [keyof typeof ENGINES, readonly (number | undefined)[], readonly number[]])[] = [
    ['zlib', [0, 6, 9], [-1, 10, 1.5, NaN, Infinity]],
    ['zstd', [0, 3, 22], [-1, 23, 3.5, NaN]],
    ['lz4', [], [0, 1]],
    ['none', [], [0, 6]],
  ];
  for (const [name, good, bad] of levels) {
    it(`checks levels of ${name}`, () => {
      const engine = ENGINES[name];
      for (const level of good) assert.equal(checkLevel(engine, level), level);
      const range = engine.levels === undefined ? 'no levels' : `${engine.levels.min} to ${engine.levels.max}`;
      for (const level of bad) assert.throws(() => checkLevel(engine, level), hasCode('LEVEL', name, range, String(level)));
    });
  }

  it('has the defaults', () => {
    assert.deepEqual(ENGINE_NAMES.map((name) => checkLevel(ENGINES[name], undefined)), [undefined, 6, 3, undefined]);
  });

  it('names the packages', () => {
    assert.deepEqual(ENGINE_NAMES.map((name) => packagesOf(ENGINES[name])), ['', 'fflate', 'zstd-napi or @mongodb-js/zstd', 'lz4-napi']);
  });

  it('loads zlib, and checks levels when a compressor is made', async () => {
    const zlib = await loadEngine('zlib');
    assert.equal(zlib.backend, 'node:zlib');
    assert.throws(() => zlib.createCompressor({ level: 10 }), hasCode('LEVEL'));
    const text = compressible(500);
    const [chunk] = await zlib.createCompressor({ level: 9 }).compress([text]);
    assert.ok(chunk !== undefined);
    const [back] = await zlib.createDecompressor().decompress([chunk], [500]);
    assertBytes(back, text);
  });

  it('loads none, which leaves everything raw', async () => {
    const none = await loadEngine('none');
    assert.deepEqual(await none.createCompressor().compress([compressible(500), compressible(5)]), [undefined, undefined]);
    assert.throws(() => none.createCompressor({ level: 1 }), hasCode('LEVEL', 'no levels'));
    assert.throws(() => void none.createDecompressor().decompress([compressible(5)], [5]), hasCode('INTERNAL'));
  });

  it('refuses to load an unknown name', () => assert.rejects(loadEngine('brotli'), hasCode('ENGINE_UNKNOWN')));

  it('takes the second backend where the first is missing', async () => {
    const engine: Engine = { ...ENGINES.zlib, backends: [missing('first'), ...ENGINES.zlib.backends.slice(1)] };
    assert.equal((await loadEngine(engine)).backend, 'fflate');
  });

  it('says what to install and what there is where no backend works', async () => {
    const engine: Engine = { ...ENGINES.zstd, backends: ENGINES.zstd.backends.map(({ name }) => missing(name)) };
    assert.equal(await tryLoadEngine(engine), undefined);
    await assert.rejects(loadEngine(engine), hasCode('ENGINE_MISSING', 'engine zstd', 'zstd-napi or @mongodb-js/zstd', 'available: none, zlib'));
  });

  it('lists what works here', async () => {
    const available = await listAvailableEngines();
    assert.deepEqual(available.slice(0, 2), [{ name: 'none', backend: 'node:' }, { name: 'zlib', backend: 'node:zlib' }]);
  });

  it('loads no native module when imported', () => {
    const url = new URL('../../src/engines/registry.js', import.meta.url).href;
    const codec = new URL('../../src/engines/chunk-codec.js', import.meta.url).href;
    const program =
      `await import(${JSON.stringify(url)}); await import(${JSON.stringify(codec)});` +
      "console.log(process.report.getReport().sharedObjects.filter((name) => name.endsWith('.node')).length)";
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    assert.equal(stdout.trim(), '0', stderr);
  });
});
