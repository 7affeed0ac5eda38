import type { BundleSpec } from '../formats/bundle/spec.js';
import type { BundleStage } from '../streams/bundle/stage.js';
import { selectParts } from '../transforms/bundle/select-parts.js';

/** What a specification says of parts beside the history. */
export type PartChoices = Pick<BundleSpec, 'phases' | 'obsolescence' | 'obsolescenceMandatory' | 'tagsFnodesCache' | 'revBranchCache'>;

const TYPES = { phases: 'phase-heads', obsolescence: 'obsmarkers', tagsFnodesCache: 'hgtagsfnodes', revBranchCache: 'cache:rev-branch-cache' } as const;
const CHOICES = Object.keys(TYPES) as (keyof typeof TYPES)[];

/**
 * Does what a specification says of parts that there are: those that it does not want are left out. None can be made here.
 * @param onNotice told where phases are wanted, and a bundle of revisions does not say them
 */
export function partsOfSpec(spec: PartChoices, onNotice: (notice: string) => void): BundleStage[] {
  const unwanted: readonly string[] = CHOICES.filter((choice) => spec[choice] === false).map((choice) => TYPES[choice]);
  const stages: BundleStage[] = unwanted.length === 0 ? [] : [selectParts(({ type }) => !unwanted.includes(type))];
  if (spec.obsolescenceMandatory !== undefined) stages.push(asMandatory(TYPES.obsolescence, spec.obsolescenceMandatory));
  if (spec.phases === true) stages.push(missPhases(onNotice));
  return stages;
}

const asMandatory =
  (type: string, mandatory: boolean): BundleStage =>
  (item) =>
    item.type === 'part' && item.part.type === type ? { ...item, part: { ...item.part, mandatory } } : item;

function missPhases(onNotice: (notice: string) => void): BundleStage {
  const found = new Set<string>();
  return (item) => {
    if (item.type === 'part') found.add(item.part.type);
    if (item.type === 'end' && found.has('changegroup') && !found.has(TYPES.phases)) onNotice('phases=yes: the source does not say the phases of its changesets; only a bundle that is made of a repository (--from-repo) can');
    return item;
  };
}
