// Makes the command one file, its threads others, and lazily loaded parts files of their own, in dist/bin.
//
// A run that is over in a second spends a tenth of it on loading a hundred small modules, yargs' among them, in each
// thread; bundled, it takes a sixteenth less time and `--help` a fifth less. The library (dist/src) stays as it is.
// What is native, or rarely used, stays outside.
import { rmSync } from 'node:fs';

import { build } from 'esbuild';

rmSync('dist/bin', { recursive: true, force: true });
await build({
  entryPoints: { revconvert: 'bin/revconvert.ts', worker: 'src/repository/worker.ts', 'bundle-worker': 'src/bundles/bundle-worker.ts' },
  outdir: 'dist/bin',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['zstd-napi', '@foxglove/wasm-bz2', '@mongodb-js/zstd', 'lz4-napi', 'cli-progress'],
  // For the CommonJS packages among those bundled.
  banner: { js: "import { createRequire as createRequireOf } from 'node:module'; const require = createRequireOf(import.meta.url);" },
  legalComments: 'linked',
  logLevel: 'warning',
});
