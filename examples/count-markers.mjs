// Counts how the chunks of a store are compressed, by the first byte of each.
//
// usage:    node examples/count-markers.mjs REPOSITORY
// example:  node examples/count-markers.mjs examples/repository
// prints:   a line for each kind of chunk: its name, how many there are, their bytes
// @ts-check
import { listRevlogs, openRevlog } from 'revconvert';

const NAMES = new Map([
  [0x00, 'raw (NUL)'],
  [0x75, 'raw (u)'],
  [0x78, 'zlib'],
  [0x28, 'zstd'],
  [0x34, 'lz4'],
]);

const [repository] = process.argv.slice(2);
if (repository === undefined) {
  console.error('usage: node examples/count-markers.mjs REPOSITORY');
  process.exit(2);
}

/** @type {Map<string, { chunks: number, bytes: number }>} */
const totals = new Map();
for (const files of listRevlogs(repository)) {
  const revlog = openRevlog(files);
  for (const { revisions } of revlog.batches()) {
    for (const { chunk } of revisions) {
      const marker = chunk[0];
      const name = marker === undefined ? 'empty' : (NAMES.get(marker) ?? `unknown (${marker.toString(16)})`);
      const total = totals.get(name) ?? { chunks: 0, bytes: 0 };
      totals.set(name, { chunks: total.chunks + 1, bytes: total.bytes + chunk.length });
    }
  }
  revlog.close();
}
for (const [name, { chunks, bytes }] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${name.padEnd(10)} ${String(chunks).padStart(9)} chunks ${String(bytes).padStart(12)} bytes`);
}
