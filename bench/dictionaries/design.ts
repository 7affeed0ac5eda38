import type { RevlogKind } from '../../src/formats/record.js';
import { REVLOG_KINDS } from '../../src/formats/record.js';
import { megabytes } from '../published/reproduction.js';
import { timeCodecs } from './codec.js';
import type { Part } from './part.js';
import { change, rate } from './part.js';
import { choiceOf, deltaBytes, readSet } from './store.js';
import type { Workspace } from './workspace.js';

/** Megabytes without and with; megabytes a second. */
const PUBLISHED: Readonly<Record<RevlogKind, readonly [without: string, dictionary: string, change: string, decompression: string, compression: string]>> = {
  changelog: ['12.0', '7.4', change(7.4, 12), '177 to 403', '82 to 112'],
  manifest: ['16.2', '11.9', change(11.9, 16.2), '', ''],
  filelog: ['24.7', '20.6', change(20.6, 24.7), '269 to 526', ''],
};

/** The figures with which dictionaries were proposed, and ours next to them. */
export async function measureDesign({ stored, loaded, rounds }: Workspace): Promise<Part> {
  const store = await loaded('medium');
  const choice = choiceOf(readSet(stored('medium', 'dictionaries').folder));
  const rows: string[][] = [];
  for (const kind of REVLOG_KINDS) {
    const batches = store.batches.filter((batch) => batch.kind === kind);
    const [plain, dictionary] = await timeCodecs(batches, [{}, { choice }], { rounds });
    if (plain === undefined || dictionary === undefined) continue;
    const all = deltaBytes(batches);
    const speed = (figure: 'compress' | 'decompress'): string => `${rate(all, plain[figure])} to ${rate(all, dictionary[figure])}`;
    const [without, smaller, less, decompression, compression] = PUBLISHED[kind];
    rows.push([kind, without, smaller, less, decompression, compression, megabytes(plain.bytes), megabytes(dictionary.bytes), change(dictionary.bytes, plain.bytes), speed('decompress'), speed('compress')]);
  }
  return {
    name: 'design',
    title: 'The published figures',
    isTimed: true,
    about:
      'The figures with which dictionaries were proposed for Mercurial are of another history and machine: only the proportions compare. Ours: medium.hg, zstd level 3, `--dict auto`, one thread, in memory, in batches. ' +
      'Megabytes of chunks without and with dictionaries; megabytes of decompressed chunks a second, without to with.',
    grids: [
      {
        head: ['', 'published: MB without', 'with', 'change', 'decompression', 'compression', 'ours: MB without', 'with', 'change', 'decompression', 'compression'],
        rows,
      },
    ],
  };
}
