import { mkdirSync, renameSync, rmSync } from 'node:fs';

import { RevconvertError, toRevconvertError } from '../../errors.js';
import type { BundleItem } from '../../formats/bundle/items.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import { partName } from '../../formats/bundle/part-header.js';
import { isStreamPart, StreamItems } from '../../formats/bundle/stream-items.js';
import type { StreamEvent } from '../../formats/bundle/stream-parser.js';
import { commitDestination } from '../../repository/commit-destination.js';
import { convertRepository } from '../../repository/convert.js';
import type { Destination } from '../../repository/destination.js';
import { checkDestination, createDestination } from '../../repository/destination.js';
import type { ConvertOptions } from '../../repository/options.js';
import { fillOptions } from '../../repository/options.js';
import { divideRequirements } from '../../repository/requirement-plan.js';
import type { ConversionSummary } from '../../repository/summary.js';
import { writeStoreLists } from '../../repository/target-layout.js';
import { asFailure } from '../../repository/with-source.js';
import type { BundleItems } from '../../streams/bundle/stage.js';
import { Turns } from '../../streams/turns.js';
import { StoreFiles } from './store-files.js';
import { requirementsFromStream, stayBehind } from './stream-requirements.js';

export interface CreateFromStreamOptions {
  /** How the store is to be made, where the files that come are not to stay as they are. @default they do */
  readonly convert?: ConvertOptions | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with a line of text where something is worth a person's knowing. */
  readonly onNotice?: ((notice: string) => void) | undefined;
}

export interface StreamOutcome {
  readonly destination: string;
  /** Of the new repository. */
  readonly requirements: readonly string[];
  /** Files of the stream clone that were written, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Where it was converted: what was done, from a folder that is gone now. */
  readonly conversion: ConversionSummary | undefined;
}

/**
 * Makes a repository of a bundle that holds a stream clone: `hg init` and the stream clone in one. Phases are those that
 * come with it; without any everything is public, as for whoever clones. The destination is complete when the promise
 * resolves, and absent when it rejects.
 * @param items of the bundle
 * @param destination a folder that does not exist, or is empty; the folder it lies in exists
 * @throws RevconvertError BUNDLE_HOLDS: there is no stream clone in it, or something that would be lost; UNKNOWN_REQUIREMENT:
 *   a requirement that this program refuses, before anything is written; DESTINATION_EXISTS; PART_UNKNOWN, PART_MALFORMED,
 *   BUNDLE_TRUNCATED; what the items throw; as convertRepository
 */
export async function createRepositoryFromStream(items: BundleItems, destination: string, options: CreateFromStreamOptions = {}): Promise<StreamOutcome> {
  const { convert, signal } = options;
  if (convert !== undefined) fillOptions(convert);
  const receiver = new Receiver(checkDestination(undefined, destination), convert !== undefined);
  try {
    const turns = new Turns(signal);
    for await (const portion of items) {
      for (const item of portion) receiver.take(item);
      await turns.give();
    }
    return await receiver.finish(options);
  } catch (error) {
    receiver.discard();
    throw asFailure(error, signal);
  }
}

/** Parts beside the stream clone that tell what it tells as well, or what a receiver finds by itself. */
const SPARE_PARTS: ReadonlySet<string> = new Set(['phase-heads', 'cache:rev-branch-cache', 'hgtagsfnodes']);

const MARKERS = 'obsmarkers';

/** A repository that is being made of what comes. */
class Receiver {
  readonly #stream = new StreamItems();
  #target: Destination | undefined;
  #files: StoreFiles | undefined;
  #requirements = new Set<string>();
  readonly #open: PartHeader[] = [];
  #hasMarkers = false;

  /** @param isDraft what comes is converted later */
  constructor(
    private readonly place: string,
    private readonly isDraft: boolean,
  ) {}

  take(item: BundleItem): void {
    if (item.type === 'part') this.#beginPart(item.part);
    for (const event of this.#stream.take(item)) this.#takeEvent(event);
    if (item.type === 'data') this.#takeMarkers(item.bytes);
    if (item.type === 'part-end') this.#endPart();
  }

  async finish({ convert, signal, onNotice = () => undefined }: CreateFromStreamOptions): Promise<StreamOutcome> {
    const [target, files] = [this.#target, this.#files];
    if (target === undefined || files === undefined) throw new RevconvertError('BUNDLE_HOLDS', 'there is no stream clone in this bundle');
    const requirements = { all: this.#requirements, ...divideRequirements(this.#requirements) };
    writeStoreLists(this.#hg(target), requirements, files.fncache, undefined);
    for (const notice of stayBehind(this.#requirements)) onNotice(notice);
    let conversion: ConversionSummary | undefined;
    if (convert !== undefined) {
      conversion = await convertRepository(draftOf(target), `${target.temporary}/converted`, { signal, onNotice, ...convert, lock: false });
      adopt(target);
    }
    await commitDestination(target, signal);
    const final = conversion === undefined ? this.#requirements : converted(this.#requirements, conversion);
    return { destination: target.path, requirements: [...final].sort(), files: files.files, bytes: files.bytes, conversion };
  }

  /** Removes what was made. */
  discard(): void {
    this.#files?.close();
    this.#target?.discard();
  }

  #hg(target: Destination): string {
    return this.isDraft ? `${draftOf(target)}/.hg` : `${target.temporary}/.hg`;
  }

  #beginPart(part: PartHeader): void {
    this.#open.push(part);
    if (isStreamPart(part) || SPARE_PARTS.has(part.type)) return;
    // Mercurial 6.3 writes the markers twice: here, and among the files.
    if (part.type === MARKERS && this.#files !== undefined) {
      if (!this.#hasMarkers) this.#files.begin({ place: 'store', name: 'obsstore', bytes: Infinity });
      return;
    }
    if (part.type === 'changegroup') throw new RevconvertError('BUNDLE_HOLDS', 'a changegroup beside a stream clone', { part: partName(part) });
    if (part.mandatory) throw new RevconvertError('PART_UNKNOWN', `it is mandatory, and nothing is known here of ${part.type}`, { part: partName(part) });
  }

  #takeMarkers(bytes: Uint8Array): void {
    if (this.#open.at(-1)?.type === MARKERS && !this.#hasMarkers) this.#files?.write(bytes);
  }

  #endPart(): void {
    const part = this.#open.pop();
    if (part?.type !== MARKERS || this.#hasMarkers) return;
    this.#hasMarkers = true;
    this.#files?.close();
  }

  #takeEvent(event: StreamEvent): void {
    if (event.type === 'bytes') this.#files?.write(event.bytes);
    else if (event.type === 'file') {
      if (event.entry.place === 'store' && event.entry.name === 'obsstore') this.#hasMarkers = true;
      this.#files?.begin(event.entry);
    } else this.#begin(event.header.requirements);
  }

  #begin(requirements: readonly string[]): void {
    const part = this.#stream.part;
    const name = part === undefined ? '' : partName(part);
    try {
      this.#requirements = requirementsFromStream(requirements);
    } catch (error) {
      throw error instanceof RevconvertError ? error.located({ part: name }) : error;
    }
    const target = createDestination(this.place, undefined);
    this.#target = target;
    const hg = this.#hg(target);
    try {
      mkdirSync(`${hg}/store`, { recursive: true });
    } catch (error) {
      throw toRevconvertError(error, { path: hg });
    }
    this.#files = new StoreFiles(hg, name);
  }
}

const converted = (before: ReadonlySet<string>, { requirements: { removed, added } }: ConversionSummary): readonly string[] => [...[...before].filter((name) => !removed.includes(name)), ...added];

const draftOf = ({ temporary }: Destination): string => `${temporary}/draft`;

/** Puts what was converted in the place of what it was converted from. */
function adopt(target: Destination): void {
  try {
    renameSync(`${target.temporary}/converted/.hg`, `${target.temporary}/.hg`);
    for (const name of ['converted', 'draft']) rmSync(`${target.temporary}/${name}`, { recursive: true });
  } catch (error) {
    throw toRevconvertError(error, { path: target.temporary });
  }
}
