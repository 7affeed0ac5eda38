import { encodedBytes } from './codec.js';
import type { Part } from './part.js';
import { bytes, change } from './part.js';
import { choiceOf, countChunks, readSet } from './store.js';
import type { Workspace } from './workspace.js';
import { HISTORIES } from './workspace.js';

/** Bytes of an index entry. */
const ENTRY_BYTES = 64;

/** Does a dictionary that was trained on one repository help another? */
export async function measureTransfer({ stored, loaded, repository, convert, remove }: Workspace): Promise<Part> {
  const rows: string[][] = [];
  const whole: string[][] = [];
  for (const target of HISTORIES) {
    const { batches } = await loaded(target.name);
    const entries = countChunks(batches) * ENTRY_BYTES;
    const plain = (await encodedBytes(batches)) + entries;
    const cells: string[] = [];
    const totals: string[] = [];
    for (const source of HISTORIES) {
      const set = readSet(stored(source.name, 'dictionaries').folder);
      cells.push(change((await encodedBytes(batches, { choice: choiceOf(set) })) + entries, plain));
      totals.push(source === target ? change(stored(target.name, 'dictionaries').total, stored(target.name, 'plain').total) : fromOther(source.name, target.name));
    }
    rows.push([target.title, bytes(plain), ...cells]);
    whole.push([target.title, ...totals]);
  }

  function fromOther(source: (typeof HISTORIES)[number]['name'], target: typeof source): string {
    const made = convert(repository(target), ['--to', 'zstd', '--dict', `from:${stored(source, 'dictionaries').folder}`]);
    remove(made.folder);
    return change(made.total, stored(target, 'plain').total);
  }

  const trained = HISTORIES.map(({ title }) => `trained on ${title}`);
  return {
    name: 'transfer',
    title: 'A dictionary of another repository',
    isTimed: false,
    about:
      'Each history compressed (zstd level 3) with the dictionaries that `--dict auto` made for each. First: index entries and chunks, without the dictionaries themselves, as where many repositories are thought to share them. ' +
      'Second: whole stores of `--dict from:OTHER`, which takes a dictionary along only where it gains more than its own bytes.',
    grids: [
      { head: ['history', 'without', ...trained], rows },
      { head: ['whole store', ...trained], rows: whole },
    ],
  };
}
