import type { BundleItem, PartStart } from '../../formats/bundle/items.js';
import type { BundleStage } from '../../streams/bundle/stage.js';

/**
 * Leaves parts of a bundle out, with all that is in them.
 * @param isKept asked of each part
 * @param onDrop told of each that is left out
 */
export function selectParts(isKept: (part: PartStart['part']) => boolean, onDrop: (part: PartStart['part']) => void = () => undefined): BundleStage {
  /** Of the parts that are open, the outer one first. */
  const kept: boolean[] = [];
  const begin = (item: PartStart): readonly BundleItem[] => {
    const isIn = isKept(item.part);
    // What interrupted a part that is gone stands on its own.
    const interrupts = item.interrupts && kept.includes(true);
    kept.push(isIn);
    if (!isIn) onDrop(item.part);
    return isIn ? [{ ...item, interrupts }] : [];
  };
  return (item) => {
    if (item.type === 'part') return begin(item);
    if (item.type === 'bundle' || item.type === 'end') return item;
    const isIn = kept.at(-1) === true;
    if (item.type === 'part-end') kept.pop();
    return isIn ? item : [];
  };
}
