import { RevconvertError } from '../../errors.js';
import type { Container } from '../../formats/bundle/items.js';
import { partName } from '../../formats/bundle/part-header.js';
import { findPartType } from '../../formats/bundle/part-types.js';
import type { BundleStage } from '../../streams/bundle/stage.js';

/** The stream clones of Mercurial 6.5 and later, whose form is not settled. */
const EXPERIMENTAL = 'stream3-exp';

/**
 * Refuses mandatory parts that are not known, as a reader must (source: `hg help internals.bundle2`); advisory ones pass, and so do
 * the parts of containers that have but one, whose type stands in no header.
 * @throws RevconvertError PART_UNKNOWN with the part
 */
export const refuseUnknownParts = (): BundleStage => {
  let container: Container | undefined;
  return (item) => {
    if (item.type === 'bundle') ({ container } = item);
    if (item.type !== 'part' || container !== 'HG20') return item;
    const { part } = item;
    if (part.type === EXPERIMENTAL) throw new RevconvertError('PART_UNKNOWN', `a stream clone of version 3 (${EXPERIMENTAL}), which is experimental in Mercurial, is not supported`, { part: partName(part) });
    if (!part.mandatory || findPartType(part.type) !== undefined) return item;
    throw new RevconvertError('PART_UNKNOWN', `unknown mandatory part '${part.type}'`, { part: partName(part) });
  };
};
