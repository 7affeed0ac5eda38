import { RevconvertError, toRevconvertError } from '../../errors.js';
import { WRITTEN_VERSIONS } from '../../formats/bundle/changegroup-version.js';
import type { BundleItem, Group, GroupChunks, RevisionGroupBatch } from '../../formats/bundle/items.js';
import { groupName } from '../../formats/bundle/items.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import { partName, partParameter } from '../../formats/bundle/part-header.js';
import type { BytePath } from '../../formats/store-path.js';
import { Changesets } from './changesets.js';
import type { Dispatcher } from './dispatcher.js';
import { storeNameOf } from './group-name.js';
import { Phases } from './phases.js';
import type { Received } from './side-parts.js';
import { SidePart } from './side-parts.js';

/** Parameters of a changegroup that are known; others must not be mandatory. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set(['version', 'nbchanges', 'targetphase', 'treemanifest', 'delta-compression', 'exp-sidedata', 'exp-wanted-sidedata']);

/** Takes the items of a bundle, and hands them to whoever builds the repository. */
export class Receiver implements Received {
  readonly changesets = new Changesets();
  readonly phases = new Phases(this.changesets);
  readonly bookmarks = new Map<string, Buffer | undefined>();
  readonly markers: Buffer[] = [];
  /** There are manifests of directories, or the bundle says so. */
  hasTrees = false;
  readonly #names = new Set<BytePath>();
  /** Parts that have begun: one interrupts another. */
  readonly #parts: { readonly part: PartHeader; readonly side: SidePart | undefined }[] = [];
  #hasChangegroup = false;
  #group: Group | undefined;
  #isEmpty = true;

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly onNotice: (notice: string) => void,
  ) {}

  /** @throws RevconvertError for whatever cannot be taken, with part and group */
  async take(item: BundleItem): Promise<void> {
    switch (item.type) {
      case 'part':
        this.#begin(item.part);
        return;
      case 'data':
        this.#parts.at(-1)?.side?.add(item.bytes);
        return;
      case 'group':
        await this.#endGroup();
        this.#beginGroup(item.group);
        return;
      case 'revisions':
      case 'chunks':
        await this.#add(item);
        return;
      case 'part-end':
        await this.#endPart();
        return;
      case 'bundle':
      case 'end':
    }
  }

  #begin(part: PartHeader): void {
    const isChangegroup = part.type === 'changegroup';
    if (isChangegroup) this.#beginChangegroup(part);
    this.#parts.push({ part, side: isChangegroup ? undefined : new SidePart(part, this.onNotice) });
  }

  #beginChangegroup(part: PartHeader): void {
    const place = { part: partName(part) };
    if (this.#hasChangegroup) throw new RevconvertError('BUNDLE_HOLDS', 'a second changegroup, which is meant for a repository that has the first', place);
    const unknown = part.mandatoryParameters.find(({ name }) => !KNOWN_PARAMETERS.has(name));
    if (unknown !== undefined) throw new RevconvertError('BUNDLE_PARAMETER', `mandatory parameter ${JSON.stringify(unknown.name)}, of which nothing is known`, place);
    this.#hasChangegroup = true;
    const target = partParameter(part, 'targetphase');
    try {
      if (target !== undefined) this.phases.setTarget(target);
    } catch (error) {
      throw toRevconvertError(error, place);
    }
    this.hasTrees = partParameter(part, 'treemanifest') !== undefined;
  }

  #beginGroup(group: Group): void {
    const name = storeNameOf(group);
    if (this.#names.has(name)) throw new RevconvertError('CHANGEGROUP_MALFORMED', 'a second group of the same name', { group: groupName(group) });
    this.#names.add(name);
    if (group.kind === 'manifest' && group.name !== '') this.hasTrees = true;
    this.#group = group;
    this.#isEmpty = true;
  }

  async #add(item: RevisionGroupBatch | GroupChunks): Promise<void> {
    const group = this.#group;
    if (group === undefined) throw new RevconvertError('INTERNAL', 'revisions that belong to no group');
    const bytes = item.type === 'revisions' ? await this.dispatcher.addRevisions(group, item.revisions) : await this.#addChunks(group, item);
    if (group.kind === 'changelog') this.changesets.add(bytes);
    this.#isEmpty &&= bytes.length === 0;
  }

  async #addChunks(group: Group, { version, bytes }: GroupChunks): Promise<Buffer> {
    const known = WRITTEN_VERSIONS.find((one) => one === version);
    if (known === undefined) throw new RevconvertError('INTERNAL', `chunks of version ${version} have to be read before they come here`);
    return this.dispatcher.addChunks(group, known, bytes);
  }

  async #endGroup(): Promise<void> {
    const group = this.#group;
    this.#group = undefined;
    if (group === undefined) return;
    // As Mercurial: there may be no new manifests, but a file without a revision is no file.
    if (this.#isEmpty && group.kind === 'filelog') throw new RevconvertError('CHANGEGROUP_MALFORMED', 'the group of a file is empty', { group: groupName(group) });
    if (!this.#isEmpty) await this.dispatcher.endGroup(group);
    if (group.kind === 'changelog') this.dispatcher.setChangesets(this.changesets.share());
  }

  async #endPart(): Promise<void> {
    const ended = this.#parts.pop();
    if (ended === undefined) return;
    if (ended.side === undefined) await this.#endGroup();
    ended.side?.end(this);
  }
}
