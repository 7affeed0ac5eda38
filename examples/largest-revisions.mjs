// A stage of one's own: passes batches on and remembers the twenty revisions with the largest texts.
//
// usage:    node examples/largest-revisions.mjs REPOSITORY
// example:  node examples/largest-revisions.mjs examples/repository
// prints:   twenty lines: bytes of the text, bytes stored, revlog and revision
// @ts-check
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { listRevlogs, readRevlog, toTransform } from 'revconvert';

const WANTED = 20;

const [repository] = process.argv.slice(2);
if (repository === undefined) {
  console.error('usage: node examples/largest-revisions.mjs REPOSITORY');
  process.exit(2);
}

/** @type {{ size: number, stored: number, where: string }[]} */
let largest = [];

/** @type {import('revconvert').Stage} */
const remember = (batch) => {
  const found = batch.revisions.map(({ rev, rawSize, chunk }) => ({ size: rawSize, stored: chunk.length, where: `${batch.path} rev ${rev}` }));
  largest = [...largest, ...found].sort((a, b) => b.size - a.size || (a.where < b.where ? -1 : 1)).slice(0, WANTED);
  return batch;
};

for (const files of listRevlogs(repository)) {
  const end = new Writable({ objectMode: true, write: (_batch, _encoding, done) => done() });
  await pipeline(readRevlog(files), toTransform(remember), end);
}
for (const { size, stored, where } of largest) console.log(`${String(size).padStart(9)} ${String(stored).padStart(9)}  ${where}`);
