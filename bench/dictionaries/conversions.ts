import type { Part } from './part.js';
import { bytes, change } from './part.js';
import type { Workspace } from './workspace.js';
import { PLAIN, WITH } from './workspace.js';

const OPTIONS: readonly (readonly string[])[] = [['--level', '1'], [], ['--level', '9'], ['--level', '19'], ['--redelta', 'all'], ['--redelta', 'all', '--preset', 'smallest']];

/** Levels and presets, each without and with dictionaries. */
export function measureConversions({ repository, convert, remove }: Workspace): Promise<Part> {
  const source = repository('medium');
  const rows = OPTIONS.map((options) => {
    const [plain, dictionaries] = [PLAIN, WITH].map((base) => convert(source, [...base, ...options]));
    if (plain === undefined || dictionaries === undefined) throw new Error('nothing was converted');
    remove(plain.folder, dictionaries.folder);
    const name = options.length === 0 ? 'no more options' : `\`${options.join(' ')}\``;
    return [name, bytes(plain.total), bytes(dictionaries.store), bytes(dictionaries.dictionaries), bytes(dictionaries.total), change(dictionaries.total, plain.total), plain.wall.toFixed(1), dictionaries.wall.toFixed(1)];
  });
  return Promise.resolve({
    name: 'conversions',
    title: 'Levels and presets',
    isTimed: true,
    about: 'medium.hg, converted by the command with all threads, once each. Dictionaries are those of `--dict auto`; the level is 3 where none is given, and 9 with `--redelta` and dictionaries. Seconds are those of one run: they say how much more a setting costs, not more.',
    grids: [{ head: ['`--to zstd`', 'without: bytes', 'with: .i and .d', 'dictionaries', 'together', 'change', 'without: s', 'with: s'], rows }],
  });
}
