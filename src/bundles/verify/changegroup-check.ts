import { createHash } from 'node:crypto';

import type { TextCache } from '../../delta/text-cache.js';
import type { ErrorCode } from '../../errors.js';
import { RevconvertError } from '../../errors.js';
import { isNullNode } from '../../formats/bundle/changegroup.js';
import type { ChangegroupRevision, Group } from '../../formats/bundle/items.js';
import { groupName } from '../../formats/bundle/items.js';
import { NodeTable } from '../../formats/bundle/node-table.js';
import { GroupRecords, OUTSIDE_BASE } from '../../streams/bundle/group-records.js';
import type { GroupPlace } from '../../streams/bundle/revision-stage.js';
import type { Turns } from '../../streams/turns.js';
import { checkTexts } from './check-texts.js';
import type { BundleFindings } from './findings.js';
import { GroupColumns } from './group-columns.js';

/** What is the same for all changegroups of a bundle. */
export interface CheckContext {
  readonly findings: BundleFindings;
  /** Every changeset that has passed. */
  readonly changesets: NodeTable;
  readonly cache: TextCache;
  readonly turns: Turns;
  /** Bytes of deltas of one group that are kept in memory. */
  readonly spoolBytes: number | undefined;
}

/** A node that a revision names and that did not come before it in its group. */
interface Reference {
  readonly from: number;
  readonly node: Uint8Array;
  readonly what: 'delta base' | 'first parent' | 'second parent';
}

/** Such nodes that are remembered, in one group; more of them are not looked for behind. */
const MAX_REFERENCES = 1 << 16;

/** Checks one changegroup, group after group. */
export class ChangegroupCheck {
  readonly #records: GroupRecords;
  readonly #columns = new GroupColumns();
  /** Hashes of the names of groups that have passed. */
  readonly #names = new NodeTable();
  #group: Group | undefined;
  #place: GroupPlace;
  #previousFile = '';
  #references: Reference[] = [];
  /** No changeset of it has a parent or base outside: whatever else is outside is missing. */
  #isFull = false;

  constructor(
    private readonly part: string,
    private readonly context: CheckContext,
  ) {
    this.#records = new GroupRecords(context.spoolBytes);
    this.#place = { part, group: '' };
    context.findings.changegroups++;
  }

  /** @throws RevconvertError CANCELLED, SYSTEM, as in `checkTexts` */
  async beginGroup(group: Group): Promise<void> {
    await this.endGroup();
    this.#group = group;
    this.#place = { part: this.part, group: groupName(group) };
    this.context.findings.kinds[group.kind].groups++;
    this.#checkName(group);
  }

  take(revisions: readonly ChangegroupRevision[]): void {
    const group = this.#group;
    if (group !== undefined) for (const revision of revisions) this.#take(revision, group);
  }

  /** @throws RevconvertError CANCELLED, SYSTEM, as in `checkTexts` */
  async endGroup(): Promise<void> {
    const group = this.#group;
    if (group === undefined) return;
    this.#group = undefined;
    const { findings, cache, turns } = this.context;
    if (group.kind === 'changelog') this.#isFull = this.#references.length === 0;
    if (group.kind === 'filelog' && this.#records.length === 0) this.#report('CHANGEGROUP_MALFORMED', 'the group of a file has no revisions, which Mercurial refuses');
    for (const reference of this.#references) this.#settle(reference);
    this.#references = [];
    await checkTexts({ kind: group.kind, place: this.#place, records: this.#records, columns: this.#columns }, cache, findings, turns);
    this.#records.clear();
  }

  close(): void {
    this.#records.close();
  }

  #take(revision: ChangegroupRevision, { kind }: Group): void {
    const counts = this.context.findings.kinds[kind];
    const count = this.#records.length;
    const number = this.#records.add(revision);
    counts.revisions++;
    counts.deltaBytes += revision.delta.length;
    if (number < count) {
      this.#report('DUPLICATE_NODE', 'an earlier revision of the group has the same node', revision);
      return;
    }
    this.#columns.set(number, revision);
    if (this.#records.base(number) === OUTSIDE_BASE) this.#refer(number, revision.base, 'delta base');
    this.#checkParent(number, revision.p1, 'first parent');
    this.#checkParent(number, revision.p2, 'second parent');
    this.#checkLink(revision, kind === 'changelog');
  }

  #checkParent(number: number, node: Uint8Array, what: Reference['what']): void {
    const found = isNullNode(node) ? 0 : this.#records.find(node);
    if (found < 0 || (found === number && !isNullNode(node))) this.#refer(number, node, what);
  }

  #refer(from: number, node: Uint8Array, what: Reference['what']): void {
    // A copy: a view would keep all that came with it.
    if (this.#references.length < MAX_REFERENCES) this.#references.push({ from, node: node.slice(), what });
  }

  #checkLink(revision: ChangegroupRevision, isChangeset: boolean): void {
    const { node, linkNode } = revision;
    const { changesets } = this.context;
    if (isChangeset) {
      changesets.add(node);
      if (Buffer.compare(node, linkNode) !== 0) this.#report('LINKREV', `a changeset names itself as its changeset, found ${hex(linkNode)}`, revision);
    } else if (changesets.find(linkNode) < 0) {
      this.#report('LINKREV', `its changeset ${hex(linkNode)} is not in the bundle`, revision);
    }
  }

  #checkName(group: Group): void {
    const { kind, name } = group;
    if (name === '') return;
    const isNew = this.#names.add(createHash('sha1').update(`${kind} ${name}`, 'latin1').digest()) >= 0;
    if (!isNew) this.#report('CHANGEGROUP_MALFORMED', 'there was a group of this name before');
    if (kind !== 'filelog') return;
    if (isNew && name < this.#previousFile) this.context.findings.warn(`part ${this.part}: the group of ${name} comes behind that of ${this.#previousFile}; Mercurial sorts them`);
    this.#previousFile = name;
  }

  /** A node that did not come before: it comes later, or from outside. */
  #settle({ from, node, what }: Reference): void {
    const { findings } = this.context;
    const isBase = what === 'delta base';
    const code = isBase ? 'BASE_MISSING' : 'PARENT_MISSING';
    const said = { node: this.#records.node(from), offset: this.#columns.offset(from) };
    const found = this.#records.find(node);
    if (found === from) this.#report(code, `its ${what} is itself`, said);
    else if (found >= 0) this.#report(code, `its ${what} ${hex(node)} comes later in the group`, said);
    else if (this.#isFull) this.#report(code, `its ${what} ${hex(node)} is not in the bundle, which has every other ancestor`, said);
    else if (isBase) findings.outsideBases++;
    else findings.outsideParents++;
  }

  #report(code: ErrorCode, message: string, revision?: Pick<ChangegroupRevision, 'node' | 'offset'>): void {
    const place = revision === undefined ? this.#place : { ...this.#place, node: hex(revision.node), offset: revision.offset };
    this.context.findings.report(new RevconvertError(code, message, place));
  }
}

const hex = (node: Uint8Array): string => Buffer.from(node).toString('hex');
