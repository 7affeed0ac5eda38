// Writes a made-up bundle to standard output.
//
// usage: node dist/bench/bundles/generate.js BYTES | revconvert bundle --verify
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { makeBundle } from './synthetic-bundle.js';

await pipeline(Readable.from(makeBundle(Number(process.argv[2]))), process.stdout);
