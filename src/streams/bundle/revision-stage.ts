import { RevconvertError } from '../../errors.js';
import type { BundleItem, ChangegroupRevision, Group, PartStart, RevisionGroupBatch } from '../../formats/bundle/items.js';
import { groupName } from '../../formats/bundle/items.js';
import { partName } from '../../formats/bundle/part-header.js';
import type { BundleStage } from './stage.js';

/** Where a revision stands, for messages. */
export interface GroupPlace {
  readonly part: string;
  readonly group: string;
}

/** What is done with the changegroup of one part. */
export interface ChangegroupVisitor {
  /** The header of the part, or what takes its place. */
  readonly start: PartStart;
  /** A group begins. */
  beginGroup(group: Group, place: GroupPlace): void;
  /** A revision of the group that began last, or what takes its place. */
  revision(revision: ChangegroupRevision, group: Group, place: GroupPlace): ChangegroupRevision;
  /** Nothing of this part comes any more. */
  close?(): void;
}

/** A part that is open. */
interface OpenPart {
  readonly name: string;
  readonly visitor: ChangegroupVisitor | undefined;
  place: GroupPlace;
}

/**
 * A stage that looks at the revisions of changegroups, one after the other; everything else passes.
 * @param makeVisitor for the part that begins; undefined: it passes
 * @throws (the stage) what the visitor throws; INTERNAL where chunks come that were not made revisions before
 */
export function createRevisionStage(makeVisitor: (start: PartStart) => ChangegroupVisitor): BundleStage {
  /** The innermost last: a part may come in the middle of another. */
  const open: OpenPart[] = [];

  const begin = (start: PartStart): BundleItem => {
    const visitor = start.part.type === 'changegroup' ? makeVisitor(start) : undefined;
    const name = partName(start.part);
    open.push({ name, visitor, place: { part: name, group: '' } });
    return visitor?.start ?? start;
  };

  const visit = (batch: RevisionGroupBatch, { visitor, place }: OpenPart): BundleItem => {
    if (visitor === undefined) return batch;
    const { group, revisions } = batch;
    for (let i = 0; i < revisions.length; i++) {
      const revision = revisions[i];
      if (revision !== undefined) revisions[i] = visitor.revision(revision, group, place);
    }
    return batch;
  };

  const stage: BundleStage = (item) => {
    const current = open.at(-1);
    switch (item.type) {
      case 'part':
        return begin(item);
      case 'part-end':
        open.pop()?.visitor?.close?.();
        return item;
      case 'group':
        if (current !== undefined) {
          current.place = { part: current.name, group: groupName(item.group) };
          current.visitor?.beginGroup(item.group, current.place);
        }
        return item;
      case 'revisions':
        return current === undefined ? item : visit(item, current);
      case 'chunks':
        if (current?.visitor === undefined) return item;
        throw new RevconvertError('INTERNAL', 'revisions must be records here, not chunks', current.place);
      case 'bundle':
      case 'data':
      case 'end':
        return item;
    }
  };
  stage.close = () => {
    for (const { visitor } of open.splice(0)) visitor?.close?.();
  };
  return stage;
}
