import { spread } from '../measure.js';
import { timeCodecs } from './codec.js';
import type { Part } from './part.js';
import { bytes, change, speedup, times } from './part.js';
import { choiceOf, countChunks, readSet } from './store.js';
import type { Workspace } from './workspace.js';

/** Levels 1 against 3, and checksums, without and with dictionaries. */
export async function measureLevels({ stored, loaded, rounds }: Workspace): Promise<Part> {
  const { batches } = await loaded('medium');
  const choice = choiceOf(readSet(stored('medium', 'dictionaries').folder));
  const encodings = [
    { name: 'level 3', encoding: {} },
    { name: 'level 1', encoding: { level: 1 } },
    { name: 'level 3, checksums', encoding: { checksum: true } },
    { name: 'level 3, dictionaries', encoding: { choice } },
    { name: 'level 1, dictionaries', encoding: { level: 1, choice } },
    { name: 'level 3, dictionaries, checksums', encoding: { checksum: true, choice } },
  ];
  const found = await timeCodecs(batches, encodings.map(({ encoding }) => encoding), { rounds });
  const rows = found.map((own, i) => {
    const base = found[i < 3 ? 0 : 3];
    return [
      encodings[i]?.name ?? '',
      bytes(own.bytes),
      change(own.bytes, base?.bytes ?? NaN),
      spread(own.compress),
      times(1 / speedup(own.compress, base?.compress)),
      spread(own.decompress, 3),
      times(1 / speedup(own.decompress, base?.decompress)),
    ];
  });
  return {
    name: 'levels',
    title: 'Levels 1 and 3, and checksums',
    isTimed: true,
    about:
      `All ${bytes(countChunks(batches))} chunks of medium.hg, on one thread, in memory, in batches, the rows in turns. Seconds: median (range). Change and "times as long" compare with level 3 without checksums: the first three rows without dictionaries, the others with those of \`--dict auto\`.`,
    grids: [{ head: ['', 'chunk bytes', 'change', 'compress s', 'times as long', 'decompress s', 'times as long'], rows }],
  };
}
