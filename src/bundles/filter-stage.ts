import { isPromise } from '../engines/engine.js';
import type { ErrorPlace } from '../errors.js';
import { RevconvertError } from '../errors.js';
import type { BundleItem, ChangegroupRevision, Group, RevisionGroupBatch } from '../formats/bundle/items.js';
import { groupName } from '../formats/bundle/items.js';
import { displayName } from '../repository/byte-path.js';
import { GroupRecords } from '../streams/bundle/group-records.js';
import type { GroupTexts } from '../streams/bundle/group-texts.js';
import { createGroupTexts } from '../streams/bundle/group-texts.js';
import type { BundleStage } from '../streams/bundle/stage.js';
import type { BundleFilter, FilterGroup, FilterRevision } from './filter.js';
import { settled } from './settled.js';

export interface FilterStageOptions {
  readonly onNotice?: ((notice: string) => void) | undefined;
  readonly spoolBytes?: number | undefined;
}

/** A part that is open. */
interface OpenPart {
  readonly isChangegroup: boolean;
  group: FilterGroup | undefined;
  isDropped: boolean;
  /** Where texts are wanted: those of the group that passes. */
  readonly records: GroupRecords;
  readonly texts: GroupTexts;
}

const NO_TEXTS = -1;

/** Names that are said of files that were left out. */
const MAX_NAMED = 3;

/**
 * Makes a stage of a filter, and holds it to what it may do.
 * @param path of the filter, for messages
 * @returns it throws RevconvertError FILTER_MODULE where the filter throws, or does what it must not
 */
export function createFilterStage(filter: BundleFilter, path: string, { onNotice = () => undefined, spoolBytes }: FilterStageOptions = {}): BundleStage {
  /** The innermost last. */
  const open: OpenPart[] = [];
  const dropped: string[] = [];
  let droppedCount = 0;
  /** The texts of others may be gone. */
  let shownLast: ChangegroupRevision | undefined;

  const refuse = (message: string, place: ErrorPlace = {}, cause?: unknown): RevconvertError => new RevconvertError('FILTER_MODULE', message, { path, ...place }, { cause });

  const ask = (name: 'onPart' | 'onGroup' | 'onRevision', place: ErrorPlace, action: () => unknown): unknown => {
    let answer: unknown;
    try {
      answer = action();
      if (!isThenable(answer)) return answer;
    } catch (error) {
      throw refuse(`${name} threw: ${error instanceof Error ? error.message : String(error)}`, place, error);
    }
    void Promise.resolve(answer).catch(() => undefined);
    throw refuse(`${name} returned a promise: it must answer at once`, place);
  };

  const beginGroup = (group: Group, part: OpenPart): boolean => {
    const view = Object.freeze({ kind: group.kind, name: displayName(group.name) });
    const place = { group: groupName(group) };
    part.group = view;
    part.records.clear();
    part.texts.clear();
    const answer = ask('onGroup', place, () => filter.onGroup?.(view));
    if (answer !== undefined && answer !== 'keep' && answer !== 'drop') throw refuse(`onGroup must return 'keep', 'drop' or nothing, found ${describe(answer)}`, place);
    part.isDropped = answer === 'drop';
    if (!part.isDropped) return true;
    if (group.kind === 'changelog') throw refuse('onGroup must not drop the changelog: everything else in the bundle belongs to its changesets', place);
    if (group.kind === 'manifest') throw refuse('onGroup must not drop manifests: changesets name them, and without them no file can be found', place);
    droppedCount++;
    if (dropped.length < MAX_NAMED) dropped.push(view.name);
    return false;
  };

  const visit = ({ group, revisions }: RevisionGroupBatch, part: OpenPart): void => {
    const wantsTexts = filter.texts?.includes(group.kind) === true;
    const view = part.group;
    if (view === undefined || (filter.onRevision === undefined && !wantsTexts)) return;
    for (const revision of revisions) {
      const number = wantsTexts ? part.records.add(revision) : NO_TEXTS;
      shownLast = revision;
      const shown = createView(revision, () => {
        if (shownLast !== revision) throw new Error('text() can be called in onRevision only, of the revision that it is given');
        return number === NO_TEXTS ? undefined : part.texts.textOf(number);
      });
      const place = { group: groupName(group), node: shown.node, offset: revision.offset };
      const answer = ask('onRevision', place, () => filter.onRevision?.(shown, view));
      if (answer !== undefined) {
        throw refuse(`onRevision must return nothing, found ${describe(answer)}: single revisions can be neither dropped nor changed, since deltas and manifests that follow are built on them`, place);
      }
    }
  };

  const finish = (report: unknown): void => {
    if (typeof report === 'string') onNotice(report);
    else if (report !== undefined) throw refuse(`onEnd must return a text or nothing, found ${describe(report)}`);
    if (droppedCount > 0) onNotice(describeDropped(dropped, droppedCount, path));
  };

  const end = (item: BundleItem): BundleItem | Promise<BundleItem> => {
    const threw = (error: unknown): RevconvertError => refuse(`onEnd threw: ${error instanceof Error ? error.message : String(error)}`, {}, error);
    let report: unknown;
    let isLater: boolean;
    try {
      report = filter.onEnd?.();
      isLater = isThenable(report);
    } catch (error) {
      throw threw(error);
    }
    if (!isLater) {
      finish(report);
      return item;
    }
    return settled(Promise.resolve(report)).then(
      (text) => {
        finish(text);
        return item;
      },
      (error: unknown) => {
        throw threw(error);
      },
    );
  };

  const beginPart = ({ part }: Extract<BundleItem, { type: 'part' }>): void => {
    const { type, id, mandatory } = part;
    const records = new GroupRecords(spoolBytes);
    open.push({ isChangegroup: type === 'changegroup', group: undefined, isDropped: false, records, texts: createGroupTexts(records) });
    const answer = ask('onPart', { part: type }, () => filter.onPart?.(Object.freeze({ type, id, mandatory })));
    if (answer !== undefined) throw refuse(`onPart must return nothing, found ${describe(answer)}: --drop-part leaves parts out`, { part: type });
  };

  const stage: BundleStage = (item) => {
    const current = open.at(-1);
    switch (item.type) {
      case 'part':
        beginPart(item);
        return item;
      case 'part-end':
        open.pop()?.records.close();
        return item;
      case 'group':
        return current?.isChangegroup !== true || beginGroup(item.group, current) ? item : [];
      case 'revisions':
        if (current?.isChangegroup !== true) return item;
        if (current.isDropped) return [];
        visit(item, current);
        return item;
      case 'chunks':
        throw new RevconvertError('INTERNAL', 'revisions must be records here, not chunks');
      case 'end':
        return end(item);
      case 'bundle':
      case 'data':
        return item;
    }
  };
  stage.close = () => {
    for (const { records } of open.splice(0)) records.close();
  };
  return stage;
}

const isThenable = (value: unknown): value is Promise<unknown> => isPromise(value) || (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function');

const describe = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : value === null ? 'null' : `a value of type ${typeof value}`);

/** What a filter sees of a revision: nothing of it can be changed. */
function createView(revision: ChangegroupRevision, text: () => Uint8Array | undefined): FilterRevision {
  const { node, p1, p2, linkNode, base, flags, delta } = revision;
  return Object.freeze({
    node: hex(node),
    p1: hex(p1),
    p2: hex(p2),
    linkNode: hex(linkNode),
    base: hex(base),
    flags,
    deltaBytes: delta.length,
    delta: () => Uint8Array.from(delta),
    text: () => {
      const found = text();
      return found === undefined ? undefined : Uint8Array.from(found);
    },
  });
}

const hex = (node: Uint8Array): string => Buffer.from(node.buffer, node.byteOffset, node.byteLength).toString('hex');

function describeDropped(names: readonly string[], count: number, path: string): string {
  const more = count > names.length ? `, and ${count - names.length} more` : '';
  return (
    `${path} left out ${count === 1 ? 'one file' : `${count} files`} (${names.join(', ')}${more}): the bundle is partial. Its manifests still name what is missing: ` +
    '`hg verify` of a repository that it is unbundled into says so, and a revision with such a file cannot be checked out'
  );
}
