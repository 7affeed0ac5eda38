// When does it pay to fold a chain of deltas into one before it is applied?
//
// usage: node dist/bench/fold.js [rounds]
//
// Texts of lines of 60 bytes; each delta puts four lines in the place of four others, anywhere. Both ways in turns, in
// warm code; prints microseconds a chain, the best of all rounds, and their ratio. Both ways must make the same text.
import { cpus } from 'node:os';

import { applyDelta } from '../src/delta/apply.js';
import { foldChain } from '../src/delta/fold-chain.js';

const LINE = 60;
const HUNKS = 4;
const TEXTS = [6_000, 60_000, 600_000, 6_000_000];
const CHAINS = [2, 5, 10, 100, 1000];

/** Most bytes of texts that are written in a measurement: longer chains of large texts are left out. */
const MOST_WRITTEN = 4e9;

function makeDelta(lines: number, seed: number): Buffer {
  const starts = Array.from({ length: HUNKS }, (_, i) => (Math.imul(seed * HUNKS + i + 1, 0x9e3779b1) >>> 0) % lines).sort((a, b) => a - b);
  return Buffer.concat(
    [...new Set(starts)].map((line) => {
      const hunk = Buffer.alloc(12 + LINE, `line ${line} as of ${seed} `);
      [line * LINE, line * LINE + LINE, LINE].forEach((value, field) => hunk.writeInt32BE(value, field * 4));
      hunk[12 + LINE - 1] = 10;
      return hunk;
    }),
  );
}

function applyEach(text: Buffer, deltas: readonly Buffer[]): Buffer {
  let from: Buffer = text;
  let to: Buffer = Buffer.alloc(text.length);
  for (const delta of deltas) {
    applyDelta(from, delta, to);
    [from, to] = [to, from === text ? Buffer.alloc(text.length) : from];
  }
  return from;
}

function applyFolded(text: Buffer, deltas: readonly Buffer[]): Buffer {
  const made = Buffer.alloc(text.length);
  applyDelta(text, foldChain(deltas), made);
  return made;
}

function time(action: () => Buffer): { readonly microseconds: number; readonly made: Buffer } {
  const started = performance.now();
  const made = action();
  return { microseconds: (performance.now() - started) * 1000, made };
}

const rounds = Number(process.argv[2] ?? 20);
console.log(`${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}; best of ${rounds} rounds\n`);
console.log('| text, bytes | deltas | one by one, us | folded, us | times as fast |');
console.log('| --- | --- | --- | --- | --- |');
for (const bytes of TEXTS) {
  const text = Buffer.alloc(bytes, `${'x'.repeat(LINE - 1)}\n`);
  for (const length of CHAINS) {
    if (bytes * length * rounds > MOST_WRITTEN * 5) continue;
    const deltas = Array.from({ length }, (_, seed) => makeDelta(bytes / LINE, seed));
    const best = { each: Infinity, folded: Infinity };
    for (let round = 0; round < rounds; round++) {
      const each = time(() => applyEach(text, deltas));
      const folded = time(() => applyFolded(text, deltas));
      if (!each.made.equals(folded.made)) throw new Error('the two ways make different texts');
      best.each = Math.min(best.each, each.microseconds);
      best.folded = Math.min(best.folded, folded.microseconds);
    }
    console.log(`| ${bytes} | ${length} | ${best.each.toFixed(0)} | ${best.folded.toFixed(0)} | ${(best.each / best.folded).toFixed(2)} |`);
  }
}
