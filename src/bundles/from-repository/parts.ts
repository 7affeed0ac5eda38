import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { BundleItem, PartData, PartStart } from '../../formats/bundle/items.js';
import type { Parameter } from '../../formats/bundle/part-header.js';
import type { BundleSpec } from '../../formats/bundle/spec.js';
import { PHASE_SECRET } from '../../formats/phase-roots.js';
import type { Repository } from '../../repository/open.js';
import type { NodeNumbers } from './node-numbers.js';
import { obsoleteMarkers, phaseHeads, revBranchCache, tagsFnodes } from './part-payloads.js';
import type { Selection } from './selection.js';
import { isSent } from './selection.js';
import type { BranchColumn } from './tasks.js';

/** What the parts of a bundle are made of. */
export interface PartFacts {
  readonly repository: Repository;
  readonly spec: BundleSpec;
  readonly version: WrittenVersion;
  readonly changesets: NodeNumbers;
  /** Entries of the changelog's index. */
  readonly table: Uint8Array;
  readonly selection: Selection;
}

const start = (type: string, id: number, more: { readonly mandatory: boolean; readonly needed?: readonly Parameter[]; readonly known?: readonly Parameter[] }): PartStart => ({
  type: 'part',
  part: { type, id, mandatory: more.mandatory, mandatoryParameters: more.needed ?? [], advisoryParameters: more.known ?? [] },
  interrupts: false,
});

/** The beginning of the part with the changegroup. */
export function changegroupStart({ spec, version, selection }: PartFacts): PartStart {
  const known = [{ name: 'nbchanges', value: String(selection.count) }];
  // What is not said to be in a lower phase is secret then.
  if (spec.phases === true && hasSecret(selection)) known.push({ name: 'targetphase', value: String(PHASE_SECRET) });
  return start('changegroup', 0, { mandatory: true, needed: [{ name: 'version', value: version }], known: spec.container === 'HG20' ? known : [] });
}

const hasSecret = (selection: Selection): boolean => selection.phases?.some((phase, rev) => phase === PHASE_SECRET && isSent(selection, rev)) ?? false;

/** Mercurial cuts what it makes as it goes into pieces of so many bytes; what it has whole is one piece. */
const PIECE_BYTES = 32768;

const data = (bytes: Uint8Array): PartData => ({ type: 'data', bytes });

const inPieces = (bytes: Buffer): PartData[] =>
  Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, i) => data(bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES)));

/**
 * The parts behind the changegroup, in Mercurial's order, as far as the kind of bundle has them and there is something in them.
 * @throws RevconvertError FILE_TOO_LARGE, PERMISSION, SYSTEM
 */
export function partsBehind(facts: PartFacts, branches: readonly BranchColumn[]): BundleItem[] {
  const { repository, spec, changesets, table, selection } = facts;
  if (spec.container !== 'HG20') return [];
  const items: BundleItem[] = [];
  let id = 1;
  const add = (type: string, mandatory: boolean, payload: readonly PartData[]): void => {
    items.push(start(type, id++, { mandatory }), ...payload, { type: 'part-end' });
  };
  const fnodes = spec.tagsFnodesCache === false ? undefined : tagsFnodes(repository, changesets, table, selection);
  if (fnodes !== undefined) add('hgtagsfnodes', true, [data(fnodes)]);
  if (spec.revBranchCache !== false) add('cache:rev-branch-cache', false, inPieces(Buffer.concat([...revBranchCache(branches, table)])));
  const { obsolescence } = selection;
  const markers = spec.obsolescence === true && obsolescence !== undefined ? obsoleteMarkers(changesets, selection, obsolescence) : undefined;
  if (markers !== undefined) add('obsmarkers', spec.obsolescenceMandatory !== false, [data(markers)]);
  if (spec.phases === true) add('phase-heads', true, [data(phaseHeads(changesets, selection))]);
  return items;
}
