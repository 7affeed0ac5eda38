// Makes the deltas of one revlog anew: texts are resolved, compared with their nodes, and each delta chosen again.
//
// usage:    node examples/redelta-revlog.mjs SOURCE.i TARGET.i [preset] [kind]
// example:  node examples/redelta-revlog.mjs examples/repository/.hg/store/00manifest.i /tmp/00manifest.i smallest manifest
// prints:   /tmp/00manifest.i: smallest
// @ts-check
import { pipeline } from 'node:stream/promises';

import { checkNode, decompress, PRESETS, readRevlog, recomputeDelta, resolveText, writeRevlog } from 'revconvert';

const [source, target, preset = 'mercurial', kind = 'filelog'] = process.argv.slice(2);
if (source === undefined || target === undefined) {
  console.error('usage: node examples/redelta-revlog.mjs SOURCE.i TARGET.i [preset] [kind]');
  process.exit(2);
}

const revlog = {
  indexFile: source,
  dataFile: source.replace(/i$/, 'd'),
  kind: /** @type {import('revconvert').RevlogKind} */ (kind),
  // A batch holds the texts of its revisions.
  limits: { maxRevisions: 32 },
};
if (!Object.hasOwn(PRESETS, preset)) {
  console.error(`no preset ${preset}; there are ${Object.keys(PRESETS).join(', ')}`);
  process.exit(2);
}
const policy = PRESETS[/** @type {keyof typeof PRESETS} */ (preset)][revlog.kind];

await pipeline(
  readRevlog(revlog),
  decompress(),
  resolveText({ revlog }),
  checkNode(),
  recomputeDelta({ engine: 'zstd', policy }),
  writeRevlog({ indexFile: target, generaldelta: policy.generaldelta }),
);
console.log(`${target}: ${preset}`);
