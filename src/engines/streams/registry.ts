/**
 * The compressions of bundles: each declared once, as facts. Source of codes and defaults: what Mercurial 6.3 and 7.2 write.
 * Importing this loads no native module.
 */

import { RevconvertError } from '../../errors.js';
import type { BundleCompression } from '../../formats/bundle/items.js';
import { ZLIB_LEVELS, ZSTD_LEVELS } from '../facts.js';
import type { BundleEngine, Compress, Decompress } from './stream-engine.js';
import { loadZstdStreams } from './zstd-binding.js';

const BZIP2_LEVELS = { min: 1, max: 9, default: 9 } as const;

interface ZstdStreams {
  readonly decompress: Decompress;
  readonly compress: Compress;
}

/**
 * zstd-napi first: its output is the same under every version of Node.
 * @throws RevconvertError ENGINE_MISSING
 */
async function loadZstd(): Promise<ZstdStreams> {
  const binding = await loadZstdStreams();
  if (binding !== undefined) {
    const [{ zstdDecompress }, { zstdCompress }] = await Promise.all([import('./zstd-decompress.js'), import('./zstd-compress.js')]);
    return { decompress: zstdDecompress(binding), compress: zstdCompress(binding) };
  }
  const { findNodeZstd, nodeZstdCompress, nodeZstdDecompress } = await import('./node-zstd.js');
  const built = findNodeZstd();
  if (built !== undefined) return { decompress: nodeZstdDecompress(built), compress: nodeZstdCompress(built) };
  throw new RevconvertError('ENGINE_MISSING', 'zstd bundles need a package that is not installed or does not work here: install zstd-napi, or use Node 22.15 or later, which has zstd built in');
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
    loadDecompress: async () => (await loadZstd()).decompress,
    loadCompress: async () => (await loadZstd()).compress,
  },
};
