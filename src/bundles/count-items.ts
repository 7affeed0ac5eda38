import type { BundleCompression, BundleItem, Container } from '../formats/bundle/items.js';
import type { RevlogKind } from '../formats/record.js';
import type { BundleStage } from '../streams/bundle/stage.js';

/** What passed through a pipeline. */
export interface ItemCounts {
  readonly container: Container | undefined;
  readonly compression: BundleCompression | undefined;
  /** Types of the parts, in their order. */
  readonly parts: readonly string[];
  /** Revisions by kind. */
  readonly revisions: Readonly<Record<RevlogKind, number>>;
  /** Groups of files. */
  readonly files: number;
}

/** Counts items as they pass. */
export function countItems(): { readonly stage: BundleStage; readonly counts: () => ItemCounts } {
  const parts: string[] = [];
  const revisions: Record<RevlogKind, number> = { changelog: 0, manifest: 0, filelog: 0 };
  let files = 0;
  let start: Extract<BundleItem, { type: 'bundle' }> | undefined;
  const stage: BundleStage = (item) => {
    if (item.type === 'bundle') start = item;
    else if (item.type === 'part') parts.push(item.part.type);
    else if (item.type === 'group' && item.group.kind === 'filelog') files++;
    else if (item.type === 'revisions') revisions[item.group.kind] += item.revisions.length;
    else if (item.type === 'chunks') revisions[item.group.kind] += item.revisions;
    return item;
  };
  return { stage, counts: () => ({ container: start?.container, compression: start?.compression, parts, revisions, files }) };
}
