import type { BundleStage } from '../streams/bundle/stage.js';
import { selectParts } from '../transforms/bundle/select-parts.js';
import type { FilterStep } from './options.js';

type PartStep = Extract<FilterStep, { type: 'drop-parts' | 'only-parts' }>;

/** Leaves parts out by their types, and says which of these no part had: it may be misspelt. */
export function createPartFilter({ type: what, parts }: PartStep, onNotice: (notice: string) => void): BundleStage {
  const missing = new Set(parts);
  const select = selectParts(({ type }) => {
    missing.delete(type);
    return parts.includes(type) === (what === 'only-parts');
  });
  return (item) => {
    if (item.type === 'end') for (const type of missing) onNotice(`there is no part of type ${type} in the bundle`);
    return select(item);
  };
}
