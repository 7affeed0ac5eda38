import { fileURLToPath } from 'node:url';

import type { Part } from '../dictionaries/part.js';
import { bytes, times } from '../dictionaries/part.js';
import { goalGrid } from '../goal.js';
import type { Measurement } from '../measure.js';
import { measure } from '../measure.js';
import type { Workspace } from './workspace.js';
import { bundleCommand } from './workspace.js';

const GENERATOR = fileURLToPath(new URL('generate.js', import.meta.url));

const COMMANDS: readonly (readonly string[])[] = [['--to', 'zstd-v2'], ['--to', 'none-v1'], ['--inspect', '--json'], ['--verify']];

/** In megabytes of a million bytes. */
const MOST_MEMORY = 200;

const MEGABYTE = 1e6;

/** GNU time counts in KiB. */
const MIB = 1 << 20;

/** How much memory does a bundle take that never ends? */
export function measureEndless({ endless }: Workspace): Promise<Part> {
  const [short, long] = endless;
  const rows = COMMANDS.map((options) => ({
    name: `revconvert bundle ${options.join(' ')}`,
    runs: endless.map((length) => measure(bundleCommand(...options), process.env, [process.execPath, GENERATOR, String(length)])),
  }));
  const peak = (run: Measurement | undefined): number => ((run?.memory ?? NaN) * MIB) / MEGABYTE;
  return Promise.resolve({
    name: 'endless',
    title: 'Memory, with a bundle that does not end',
    isTimed: false,
    about:
      `\`generator | revconvert bundle ... | cat >/dev/null\`, once each. The bundle is HG20, uncompressed, made as it is read, and nowhere stored: a made-up history with the proportions of medium.hg, in which one revision in 16 is on a branch (so that --to none-v1 needs its texts). Peak: the largest resident size that the kernel saw of the process (VmHWM), all threads, in megabytes of a million bytes. ` +
      'What grows with the length are the nodes of the changesets, and those of the file or manifest that passes, where they are needed. Seconds are those of the long one.',
    grids: [
      {
        head: ['command', `peak MB, ${bytes(short)} bytes`, `peak MB, ${bytes(long)} bytes`, 'times as much', 'CPU s'],
        rows: rows.map(({ name, runs: [first, second] }) => [
          name,
          peak(first).toFixed(0),
          peak(second).toFixed(0),
          times(peak(second) / peak(first)),
          (second?.cpu ?? NaN).toFixed(1),
        ]),
      },
      goalGrid(rows.map(({ name, runs: [, second] }) => ({ what: `\`${name}\`, peak`, wanted: 1, more: false, ratio: peak(second) / MOST_MEMORY, pair: `${peak(second).toFixed(0)} MB / ${MOST_MEMORY} MB` }))),
    ],
  });
}
