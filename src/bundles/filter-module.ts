import { RevconvertError } from '../errors.js';
import type { BundleStage } from '../streams/bundle/stage.js';
export const loadFilter = async (_path: string, _options: object): Promise<BundleStage> => Promise.reject(new RevconvertError('FILTER_MODULE', 'not yet'));
