/** No compression: every chunk stays raw, and raw chunks are read by the chunk codec. */

import { RevconvertError } from '../../errors.js';
import type { LoadedBackend } from '../engine.js';

export const noneBackend: LoadedBackend = {
  createCompressor: () => ({ compress: (inputs) => inputs.map(() => undefined) }),
  createDecompressor: () => ({
    decompress: () => {
      throw new RevconvertError('INTERNAL', 'raw chunks have no decompressor');
    },
  }),
};
