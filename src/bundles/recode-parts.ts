import type { WrittenVersion } from '../formats/bundle/changegroup-version.js';
import type { PartHeader } from '../formats/bundle/part-header.js';
import type { BundleStage } from '../streams/bundle/stage.js';
import { createRecodeStage } from '../transforms/bundle/recode.js';
import { versionOf } from './target-version.js';

/** Recodes the changegroups that are not of the version wanted; the others pass untouched. */
export function recodeParts(versionFor: (part: PartHeader) => WrittenVersion): BundleStage {
  const stages = new Map<WrittenVersion, BundleStage>();
  const stageFor = (version: WrittenVersion): BundleStage => {
    const stage = stages.get(version) ?? createRecodeStage(version);
    stages.set(version, stage);
    return stage;
  };
  /** Of the parts that are open, what each goes through. */
  const open: (BundleStage | undefined)[] = [];
  const begin = (part: PartHeader): void => {
    const version = part.type === 'changegroup' ? versionFor(part) : undefined;
    open.push(version === undefined || version === versionOf(part) ? undefined : stageFor(version));
  };
  const recode: BundleStage = (item) => {
    if (item.type === 'part') begin(item.part);
    const stage = open.at(-1);
    if (item.type === 'part-end') open.pop();
    return stage?.(item) ?? item;
  };
  recode.close = () => {
    for (const stage of stages.values()) stage.close?.();
  };
  return recode;
}
