// Leaves one file out of a bundle: a pipeline of streams, from standard input to standard output.
//
// usage:    node examples/drop-file.mjs FILE < BUNDLE > BUNDLE
// example:  node dist/bin/revconvert.js bundle --from-repo examples/repository | node examples/drop-file.mjs README > without.hg
//
// The result is partial. The manifests in it still name the file and its nodes: a manifest's own node is the hash of that
// text, a changeset's the hash of one that names the manifest; to take a line out of one would give every later changeset
// another node, and make another history of it. So `hg unbundle` takes the bundle, but `hg verify` says of each
// revision of the file that it is missing, and a checkout of what has it fails. That is what is wanted where somebody
// only has to count, or to look at the rest; to remove a file for good, convert the history (`hg convert --filemap`).
// @ts-check
import { pipeline } from 'node:stream/promises';

import { createFilterStage, readBundle, toBundleTransform, writeBundle } from 'revconvert';

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node examples/drop-file.mjs FILE < BUNDLE > BUNDLE');
  process.exit(2);
}

let dropped = 0;
const drop = createFilterStage(
  {
    onGroup({ kind, name }) {
      if (kind !== 'filelog' || name !== file) return 'keep';
      dropped++;
      return 'drop';
    },
  },
  'drop-file',
);

await pipeline(process.stdin, readBundle(), toBundleTransform(drop), writeBundle(), process.stdout);
console.error(dropped === 0 ? `${file} is not in the bundle` : `${file} was left out: the bundle is partial, its manifests still name the file`);
