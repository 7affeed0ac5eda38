import { RevconvertError } from '../errors.js';
import type { Compress } from '../sinks/bundle/write-bundle.js';
export const bzip2Compressor = async (_options: object): Promise<Compress> => Promise.reject(new RevconvertError('BZIP_PROGRAM', 'not yet'));
