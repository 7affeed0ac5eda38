import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';

import type { Part } from '../dictionaries/part.js';
import { bytes } from '../dictionaries/part.js';
import { goalGrid } from '../goal.js';
import { quoted, spread } from '../measure.js';
import type { Contender } from './turns.js';
import { column, compareResults, ratio, runInTurns } from './turns.js';
import type { Workspace } from './workspace.js';
import { bundleCommand } from './workspace.js';

const MAGIC_AND_LENGTH = 8;

/** Where the compressed part of a bundle 2 begins: behind the magic, and the parameters of the stream with their length. */
export const bodyOffset = (bundle: Uint8Array): number => MAGIC_AND_LENGTH + Buffer.from(bundle.buffer, bundle.byteOffset, bundle.byteLength).readInt32BE(4);

/** How fast is another compression, against the programs that do nothing else? */
export function measureRecompress(workspace: Workspace): Promise<Part> {
  const { bundle, newPath, remove } = workspace;
  const [source, plain] = [bundle('gzip-v2'), bundle('none-v2')];
  const payload = newPath();
  const packed = newPath();
  writeFileSync(payload, readFileSync(plain).subarray(bodyOffset(readFileSync(plain))));
  execFileSync('bash', ['-c', `gzip -6 -n -c ${quoted([payload])} > ${quoted([packed])}`]);
  const shell = (name: string, script: (made: string) => string): Contender => ({ name, command: (made) => ['bash', '-c', script(quoted([made]))] });
  const contenders: readonly Contender[] = [
    { name: 'revconvert bundle --to zstd-v2', command: (made) => bundleCommand('--quiet', '--to', 'zstd-v2', source, made) },
    shell('the same, standard input to standard output', (made) => `${quoted(bundleCommand('--to', 'zstd-v2'))} < ${quoted([source])} > ${made}`),
    { name: 'revconvert bundle --to zstd-v2 --threads 0', command: (made) => bundleCommand('--quiet', '--to', 'zstd-v2', '--threads', '0', source, made) },
    shell('gzip -dc \\| zstd -3', (made) => `set -o pipefail; gzip -dc ${quoted([packed])} | zstd -q -3 -c > ${made}`),
  ];
  const results = runInTurns(workspace, contenders, (made, name) => {
    checkBody(made, name.startsWith('gzip') ? 0 : bodyOffset(readFileSync(made)), payload);
    return statSync(made).size;
  });
  const [own, piped, , pipe] = results;
  const sizes = { source: statSync(source).size, packed: statSync(packed).size, payload: statSync(payload).size };
  remove(payload, packed);
  const goal = (what: string, one: typeof own): Parameters<typeof goalGrid>[0][number] => ({
    what,
    wanted: 1.3,
    more: false,
    ratio: 1 / ratio(one, pipe, 'wall'),
    pair: `${spread(column(one, 'wall'))} s / ${spread(column(pipe, 'wall'))} s`,
  });
  return Promise.resolve({
    name: 'recompress',
    title: 'Another compression, against the shell',
    isTimed: true,
    about:
      `All of medium.hg as Mercurial bundles it, gzip-v2 (${bytes(sizes.source)} bytes), to zstd-v2, level 3. The pipe has the same payload (${bytes(sizes.payload)} bytes) as a file of gzip, level 6 (${bytes(sizes.packed)} bytes); it parses nothing, and checks nothing but gzip's sum. ` +
      'Whole processes; both processes of the pipe together, their memory that of the larger. What comes out holds the payload byte by byte.',
    grids: [compareResults(results, pipe, 'bytes'), goalGrid([goal('gzip-v2 to zstd-v2, to `gzip -dc \\| zstd -3`', own), goal('the same through pipes', piped)])],
  });
}

/** @throws Error where a stream of zstd is not a payload */
function checkBody(path: string, offset: number, payload: string): void {
  execFileSync('bash', ['-c', `set -o pipefail; tail -c +${offset + 1} ${quoted([path])} | zstd -q -dc | cmp - ${quoted([payload])}`]);
}
