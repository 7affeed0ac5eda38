import { RevconvertError } from '../../errors.js';
import type { BundleItem, PartStart } from '../../formats/bundle/items.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import { partName } from '../../formats/bundle/part-header.js';
import { findPartType } from '../../formats/bundle/part-types.js';
import type { BundleSpec } from '../../formats/bundle/spec.js';
import type { BundleStage } from '../../streams/bundle/stage.js';

/**
 * Makes a bundle one of another kind: its container and compression. What the target has no room for is refused, but for
 * caches, and what only two programs say to each other; and so is a container that is left without what it is made of.
 * @param target undefined: the kind of the source; the versions of changegroups are not its business
 * @param onDrop told of each part that is left out
 * @throws RevconvertError BUNDLE_HOLDS
 */
export function retarget(target: Pick<BundleSpec, 'container' | 'compression'> | undefined, onDrop: (part: PartHeader) => void): BundleStage {
  let parts: BundleStage = framed;
  return (item) => {
    if (item.type !== 'bundle') return parts(item);
    const { container, compression } = target ?? item;
    if (container !== 'HG20') parts = onlyPart(container === 'HG10' ? 'changegroup' : 'stream1', onDrop);
    return { ...item, container, compression, parameters: container === 'HG20' ? item.parameters : [] };
  };
}

const framed: BundleStage = (item) => (item.type === 'part' ? checkFramed(item) : item);

/** The files of an older stream clone stand in no part. */
function checkFramed(item: PartStart): BundleItem {
  if (item.part.type !== 'stream1') return item;
  throw new RevconvertError('BUNDLE_HOLDS', "the files of a store (packed1) are no part of a bundle of version 2: give --to 'none-v2;stream=v2', or unpack them (--to-repo) and bundle that (--from-repo)");
}

/** Lets one part of one type through, as it stands in no header. */
function onlyPart(type: 'changegroup' | 'stream1', onDrop: (part: PartHeader) => void): BundleStage {
  const kept: boolean[] = [];
  let found = false;
  const begin = (item: PartStart): readonly BundleItem[] => {
    const isIn = item.part.type === type;
    if (isIn && found) throw new RevconvertError('BUNDLE_HOLDS', `two parts of type ${type}, where the target has room for one`, { part: partName(item.part) });
    kept.push(isIn);
    found ||= isIn;
    if (isIn) return [item];
    checkLosable(item.part, type);
    onDrop(item.part);
    return [];
  };
  return (item) => {
    if (item.type === 'part') return begin(item);
    if (item.type === 'end') {
      if (!found) throw new RevconvertError('BUNDLE_HOLDS', `no part of type ${type}, which the target is made of`);
      return item;
    }
    const isIn = kept.at(-1) === true;
    if (item.type === 'part-end') kept.pop();
    return isIn ? item : [];
  };
}

function checkLosable(part: PartHeader, wanted: string): void {
  const known = findPartType(part.type);
  if (known !== undefined ? known.holds !== 'history' : !part.mandatory) return;
  const way = part.type === 'stream2' || part.type === 'changegroup' ? 'unpack it (--to-repo) and bundle that (--from-repo)' : `--drop-part ${part.type} leaves it out`;
  throw new RevconvertError('BUNDLE_HOLDS', `a part of type ${part.type} has no room where only one of type ${wanted} has: ${way}`, { part: partName(part) });
}
