/**
 * The compressions of bundles: each declared once, as facts. Source of codes and defaults: what Mercurial 6.3 and 7.2 write.
 * Importing this loads no native module.
 */

import { RevconvertError } from '../../errors.js';
import type { BundleCompression } from '../../formats/bundle/items.js';
import { ZLIB_LEVELS, ZSTD_LEVELS } from '../facts.js';
import type { BundleEngine } from './stream-engine.js';
import { loadZstdStreams, type ZstdStreamBinding } from './zstd-binding.js';

const BZIP2_LEVELS = { min: 1, max: 9, default: 9 } as const;

async function needZstd(): Promise<ZstdStreamBinding> {
  const binding = await loadZstdStreams();
  if (binding !== undefined) return binding;
  throw new RevconvertError('ENGINE_MISSING', 'zstd bundles need a package that is not installed or does not work here: install zstd-napi');
}

export const BUNDLE_ENGINES: Readonly<Record<BundleCompression, BundleEngine>> = {
  none: {
    name: 'none',
    code: 'UN',
    levels: undefined,
    loadDecompress: async () => (await import('./none.js')).passThrough,
    loadCompress: async () => (await import('./none.js')).passThrough,
  },
  zlib: {
    name: 'zlib',
    code: 'GZ',
    levels: ZLIB_LEVELS,
    loadDecompress: async () => (await import('./inflate.js')).inflate,
    loadCompress: async () => (await import('./deflate.js')).deflate,
  },
  bzip2: {
    name: 'bzip2',
    code: 'BZ',
    levels: BZIP2_LEVELS,
    loadDecompress: async () => {
      const [{ loadBzip2 }, { bunzip2 }] = await Promise.all([import('./bzip2-library.js'), import('./bunzip2.js')]);
      const decoder = await loadBzip2();
      if (decoder === undefined) throw new RevconvertError('ENGINE_MISSING', 'bzip2 bundles need a package that is not installed or does not work here: install @foxglove/wasm-bz2');
      return bunzip2(decoder);
    },
    loadCompress: undefined,
  },
  zstd: {
    name: 'zstd',
    code: 'ZS',
    levels: ZSTD_LEVELS,
    loadDecompress: async () => {
      const binding = await needZstd();
      return (await import('./zstd-decompress.js')).zstdDecompress(binding);
    },
    loadCompress: async () => {
      const binding = await needZstd();
      return (await import('./zstd-compress.js')).zstdCompress(binding);
    },
  },
};
