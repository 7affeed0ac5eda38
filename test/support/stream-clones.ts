/** What the tests of stream clones with Mercurial share. */
import assert from 'node:assert/strict';
import { createReadStream, createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { createRepositoryFromStream } from '../../src/bundles/stream-clone/create-repository.js';
import type { StreamRepositoryOptions } from '../../src/bundles/stream-clone/stream-repository.js';
import { streamRepository } from '../../src/bundles/stream-clone/stream-repository.js';
import { parseBundleSpec } from '../../src/formats/bundle/spec.js';
import type { ConvertOptions } from '../../src/index.js';
import { writeBundleBytes } from '../../src/sinks/bundle/write-bundle.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import { callHg, runHgOk } from './hg-session.js';
import { supportFile } from './paths.js';

/** Fixed, so that nothing but what is tested differs. */
export const INIT = ['format.revlog-compression=zlib'];

/** A history with every kind of name that is stored in its own way, a split filelog, tags, a branch and drafts. */
export function makeHistory(hg: string, folder: string, config: readonly string[]): void {
  runHgOk(hg, ['init', folder], { config });
  const commit = (message: string, files: Readonly<Record<string, string | Buffer>>, ...more: readonly string[]): void => {
    for (const [name, content] of Object.entries(files)) {
      const path = Buffer.from(join(folder, name), 'latin1');
      mkdirSync(Buffer.from(join(folder, name, '..'), 'latin1'), { recursive: true });
      writeFileSync(path, content);
    }
    runHgOk(hg, ['commit', '--addremove', '--quiet', '--message', message, ...more], { cwd: folder, config });
  };
  const noise = Buffer.from(Array.from({ length: 200_000 }, (_, i) => ((i * 2654435761) >>> 13) & 255));
  commit('first', { 'a': 'a\n', 'Dir.i/sub/B': 'b\n', 'Dir.i.z': 'z\n', 'aux': 'x\n', 'a b ': 's\n', '\xc3\xa9': 'e\n', ['long'.repeat(40)]: 'l\n', 'noise': noise, 'empty': '', 'undo': 'u\n', 'meta/00manifest': 'm\n' });
  commit('second', { a: 'a\nmore\n' });
  runHgOk(hg, ['tag', 'v1', '--quiet'], { cwd: folder, config });
  runHgOk(hg, ['branch', 'other', '--quiet'], { cwd: folder, config });
  commit('third', { 'Dir.i/sub/B': 'b\nc\n' });
  runHgOk(hg, ['phase', '--public', '--rev', '1'], { cwd: folder, config });
  // A clone has no working copy.
  runHgOk(hg, ['update', 'null'], { cwd: folder, config });
}

/** Mercurial reads the same from both; phases only where they came along. */
export function checkSame(hg: string, source: string, made: string, always: readonly string[], phases: boolean): void {
  const { output } = callHg(hg, ['samerepo', source, made], { cwd: '/', config: [...always, `extensions.samerepo=${supportFile('same_repo.py')}`] });
  const lines = output.split('\n').filter((line) => /^(?:same|differs): /.test(line));
  assert.ok(lines.length > 0, output);
  assert.deepEqual(lines.filter((line) => line.startsWith('differs') && (phases || !/: phase \d, not \d$/.test(line))), [], output);
}

export async function writeStream(path: string, target: string, spec: string, options: Partial<StreamRepositoryOptions> = {}): Promise<void> {
  await pipeline(writeBundleBytes(streamRepository(path, { spec: parseBundleSpec(spec), ...options })), createWriteStream(target));
}

export const readStream = (path: string, destination: string, convert?: ConvertOptions): Promise<unknown> =>
  createRepositoryFromStream(readBundleItems(createReadStream(path)), destination, { convert });

export const PACKED1 = 'packed1';
export const STREAM2 = 'none-v2;stream=v2';

/** Takes a bundle into a new, empty repository. */
export function take(hg: string, bundle: string, repository: string, packed: boolean, config: readonly string[]): void {
  runHgOk(hg, ['init', repository], { config });
  runHgOk(hg, [packed ? 'debugapplystreamclonebundle' : 'unbundle', bundle], { cwd: repository, config });
}

/** Mercurial finds nothing wrong. */
export function checkVerified(hg: string, repository: string, config: readonly string[] = []): void {
  assert.equal(runHgOk(hg, ['verify', '--quiet'], { cwd: repository, config }).replace(/^(?:warning|\(it is recommended).*\n/gm, ''), '');
}
