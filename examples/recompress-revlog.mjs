// Recompresses one revlog: a pipeline of the library's own stages.
//
// usage:    node examples/recompress-revlog.mjs SOURCE.i TARGET.i [engine] [level]
// example:  node examples/recompress-revlog.mjs examples/repository/.hg/store/00manifest.i /tmp/00manifest.i zstd 19
// prints:   /tmp/00manifest.i: zstd
// @ts-check
import { pipeline } from 'node:stream/promises';

import { checkChunks, decompress, readRevlog, recompress, writeRevlog } from 'revconvert';

const [source, target, engine = 'zstd', level] = process.argv.slice(2);
if (source === undefined || target === undefined) {
  console.error('usage: node examples/recompress-revlog.mjs SOURCE.i TARGET.i [engine] [level]');
  process.exit(2);
}

await pipeline(
  readRevlog({ indexFile: source, dataFile: source.replace(/i$/, 'd') }),
  decompress(),
  recompress({ engine: /** @type {import('revconvert').EngineName} */ (engine), level: level === undefined ? undefined : Number(level) }),
  checkChunks(),
  writeRevlog({ indexFile: target }),
);
console.log(`${target}: ${engine}`);
