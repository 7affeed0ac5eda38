import { applyDelta } from '../../delta/apply.js';
import type { ChainTable } from '../../delta/chain-table.js';
import { makesText } from '../../delta/check-delta.js';
import type { DeltaChoice, DeltaTools } from '../../delta/choose-delta.js';
import { chooseDelta, isGoodAsItIs, isUnfit } from '../../delta/choose-delta.js';
import { hashInPlace, nodeText, NULL_NODE } from '../../delta/node-hash.js';
import { PRESETS } from '../../delta/policy.js';
import { createTextSource } from '../../delta/text-resolver.js';
import { encodeChunks } from '../../engines/chunk-codec.js';
import type { MaybePromise } from '../../engines/engine.js';
import { andThen, isPromise } from '../../engines/engine.js';
import { runSteps } from '../../engines/steps.js';
import { RevconvertError, toRevconvertError } from '../../errors.js';
import { NODE } from '../../formats/bundle/changegroup.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { Group } from '../../formats/bundle/items.js';
import { groupName } from '../../formats/bundle/items.js';
import type { NodeTable } from '../../formats/bundle/node-table.js';
import { asBuffer } from '../../formats/bytes.js';
import { isTombstone } from '../../formats/filelog-meta.js';
import type { RevisionBatch } from '../../formats/record.js';
import { FULL_TEXT } from '../../formats/record.js';
import { FLAG_CENSORED, isHashed } from '../../formats/revision-flags.js';
import type { RevlogOutcome, RevlogWriter } from '../../sinks/revlog-writer.js';
import { readChain } from '../../streams/chain-reader.js';
import type { ChunkIndex } from '../../streams/chunk-reader.js';
import { createCheckStage } from '../../transforms/check-chunks.js';
import type { BuildTools } from './build-tools.js';
import { CopyParents } from './copy-parents.js';
import type { IncomingRevision } from './incoming.js';
import { IncomingGroup } from './incoming.js';

/** What became of the deltas of a revlog. */
export interface DeltaCounts {
  /** Deltas that were stored as they came. */
  kept: number;
  /** Revisions for which another delta, or the full text, was stored. */
  chosen: number;
}

/**
 * Builds one revlog out of the chunks of its group, under the rules of Mercurial: a delta is stored as it came where it
 * is good in the place that it gets; otherwise its text is rebuilt, and another one chosen. Each text that is there in
 * full, or was rebuilt, is compared with its node.
 */
export class RevlogBuilder {
  readonly counts: DeltaCounts = { kept: 0, chosen: 0 };
  readonly #incoming: IncomingGroup;
  readonly #chains: ChainTable;
  readonly #tools: DeltaTools;
  readonly #check: ReturnType<typeof createCheckStage> | undefined;
  readonly #copies: CopyParents | undefined;
  /** Revisions whose texts stand for something else. */
  readonly #unfit = new Set<number>();

  /** @param changesets undefined: it is the changelog that is built */
  constructor(
    private readonly group: Group,
    private readonly writer: RevlogWriter,
    private readonly tools: BuildTools,
    changesets: NodeTable | undefined,
  ) {
    const { settings, decoders, texts, differ } = tools;
    const { kind } = group;
    this.#incoming = new IncomingGroup(group, changesets, tools.group);
    this.#chains = tools.chains;
    this.#chains.clear();
    this.#check = settings.checkChunks ? createCheckStage(decoders) : undefined;
    texts.clear();
    const origin = { index: indexOf(this.#chains), data: { path: this.#name, get size() { return writer.size; }, read: (position: number, length: number) => writer.read(position, length), close: () => undefined }, path: this.#name };
    const textOf = createTextSource({ cache: texts, fetch: (rev) => runSteps(readChain(rev, origin, decoders, texts)) });
    this.#tools = {
      policy: PRESETS.mercurial[kind],
      chains: this.#chains,
      textOf,
      diff: (base, text) => differ.diff(base, text, { lines: kind === 'manifest' }),
      compress: (delta) => andThen(this.#compress([delta]), ([chunk = delta]) => chunk),
      isOffLimits: (base, { deltaBase, delta, rawSize }) => this.#unfit.has(base) || (base === deltaBase && delta !== undefined && delta.length < rawSize),
      reuse: () => undefined,
    };
    this.#copies = kind === 'filelog' ? new CopyParents() : undefined;
  }

  /** All flags of the revisions. */
  get flags(): number {
    return this.#incoming.flags;
  }

  get #name(): string {
    return groupName(this.group);
  }

  /**
   * Appends revisions.
   * @param bytes whole chunks, one after the other; used until this has ended
   * @throws RevconvertError as IncomingGroup.take; NODE_MISMATCH, CHECK_FAILED, NO_SPACE, PERMISSION, SYSTEM
   */
  async add(bytes: Buffer, version: WrittenVersion): Promise<void> {
    try {
      for (let at = 0; at < bytes.length; ) {
        const { revisions, end } = this.#incoming.take(bytes, at, version);
        at = end;
        const encoding = this.#encode(revisions);
        if (isPromise(encoding)) await encoding;
        await this.#store(revisions);
        this.tools.memory.recycle();
      }
    } catch (error) {
      const failure = toRevconvertError(error);
      throw failure.located({ group: this.#name });
    }
  }

  finish(): RevlogOutcome {
    return this.writer.finish();
  }

  /** Closes and removes what was written. */
  abort(): void {
    this.writer.abort();
  }

  /** Makes the chunks of all that is likely to be stored as it is, at once, which is cheaper; and checks them. */
  #encode(revisions: readonly IncomingRevision[]): MaybePromise<unknown> {
    const likely = revisions.filter((revision) => this.#isLikely(revision));
    for (const revision of revisions) if (revision.text !== undefined) this.#checkGiven(revision, revision.text);
    return andThen(this.#compress(likely.map(({ delta }) => delta)), (chunks) => {
      for (let i = 0; i < likely.length; i++) {
        const revision = likely[i];
        const chunk = chunks[i];
        if (revision === undefined || chunk === undefined) continue;
        revision.chunk = chunk;
        revision.isEncoded = true;
      }
      return this.#check?.(this.#batchOf(likely));
    });
  }

  #isLikely({ rev, deltaBase }: IncomingRevision): boolean {
    const { policy } = this.#tools;
    return deltaBase === FULL_TEXT ? rev === 0 || !policy.deltas : policy.deltas;
  }

  async #store(revisions: readonly IncomingRevision[]): Promise<void> {
    let written = 0;
    for (let i = 0; i < revisions.length; i++) {
      const revision = revisions[i];
      if (revision === undefined) continue;
      if (isUnfit(revision.flags)) this.#unfit.add(revision.rev);
      const isAffected = this.#copies?.look(revision);
      if (isAffected === undefined && this.#copies !== undefined) {
        // Its text has to be looked at, for which what it is built on has to be written.
        this.#write(revisions, written, i);
        written = i;
        this.#copies.settle(revision, await this.#textOf(revision));
      }
      if (this.#keeps(revision)) {
        this.#note(revision);
        continue;
      }
      this.#write(revisions, written, i);
      const choosing = this.#choose(revision);
      if (isPromise(choosing)) await choosing;
      this.#write(revisions, i, i + 1);
      written = i + 1;
    }
    this.#write(revisions, written, revisions.length);
  }

  /** Whether a revision is stored as it came. */
  #keeps(revision: IncomingRevision): boolean {
    if (!revision.isEncoded) return false;
    if (revision.deltaBase === FULL_TEXT) return true;
    if (isUnfit(revision.flags) || this.#unfit.has(revision.deltaBase)) return false;
    const base = this.#chains.skipEmpty(revision.deltaBase);
    revision.deltaBase = base;
    if (!isGoodAsItIs(revision, this.#tools)) return false;
    this.counts.kept++;
    return true;
  }

  #choose(revision: IncomingRevision): MaybePromise<void> {
    const { texts } = this.tools;
    this.counts.chosen++;
    return andThen(this.#textOf(revision), (text) => {
      revision.rawSize = text.length;
      this.#checkText(revision, text);
      return andThen(runSteps(chooseDelta(revision, text, this.#tools)), (choice) =>
        andThen(this.#checkChoice(revision, text, choice), () => {
          revision.deltaBase = choice.base;
          revision.delta = choice.delta;
          revision.chunk = choice.chunk;
          this.#note(revision);
          return andThen(this.#check?.(this.#batchOf([revision])), () => texts.put(revision.rev, text));
        }),
      );
    });
  }

  /** The text of a revision that is not stored yet, in memory of the cache; what it is built on is written. */
  #textOf(revision: IncomingRevision): MaybePromise<Buffer> {
    const { texts } = this.tools;
    const { delta, deltaBase, rawSize, text } = revision;
    if (text !== undefined) return texts.copy(text);
    return andThen(this.#tools.textOf(deltaBase), (base) => {
      const made = texts.allocate(rawSize);
      applyDelta(base, delta, made);
      return made;
    });
  }

  /** Compares a text that came in full with its node. What stands in front of it was read, and is overwritten: that saves a copy. */
  #checkGiven(revision: IncomingRevision, text: Uint8Array): void {
    const { rev, p1, p2, flags, isInPlace } = revision;
    if (!isInPlace || !isHashed(flags)) {
      this.#checkText(revision, text);
      return;
    }
    const column = { table: this.#incoming.nodes.nodes, at: 0, stride: NODE };
    const found = hashInPlace(column, p1, p2, asBuffer(text));
    if (found !== nodeText(column, rev)) throw this.#mismatch(revision, `parents and text hash to ${Buffer.from(found, 'latin1').toString('hex')}`);
  }

  #checkText(revision: IncomingRevision, text: Uint8Array): void {
    const { node, p1, p2, flags } = revision;
    const { nodes } = this.#incoming;
    if ((flags & FLAG_CENSORED) !== 0 && !isTombstone(asBuffer(text))) throw this.#mismatch(revision, 'it is marked as censored, and its text is no tombstone');
    if (!isHashed(flags)) return;
    const found = this.tools.hashNode(nodeAt(nodes, p1), nodeAt(nodes, p2), text);
    if (found.compare(node) !== 0) throw this.#mismatch(revision, `parents and text hash to ${found.toString('hex')}`);
  }

  #mismatch({ node }: IncomingRevision, message: string): RevconvertError {
    return new RevconvertError('NODE_MISMATCH', message, { group: this.#name, node: Buffer.from(node).toString('hex') });
  }

  #checkChoice(revision: IncomingRevision, text: Uint8Array, { base, delta }: DeltaChoice): MaybePromise<void> {
    if (this.#check === undefined || base < 0) return undefined;
    return andThen(this.#tools.textOf(base), (baseText) => {
      if (makesText(baseText, delta, text)) return;
      throw new RevconvertError('CHECK_FAILED', 'a new delta does not make the text', { group: this.#name, rev: revision.rev });
    });
  }

  #compress(deltas: readonly Uint8Array[]): MaybePromise<Uint8Array[]> {
    return encodeChunks(deltas, this.tools.compressors[this.group.kind], this.tools.memory);
  }

  #note({ deltaBase, chunk, rawSize, p1, p2 }: IncomingRevision): void {
    this.#chains.add(deltaBase, chunk.length, rawSize, this.#chains.isSnapshotOn(deltaBase, p1, p2));
  }

  #write(revisions: readonly IncomingRevision[], from: number, to: number): void {
    if (from < to) this.writer.write(this.#batchOf(revisions.slice(from, to)));
  }

  #batchOf(revisions: IncomingRevision[]): RevisionBatch {
    return { path: this.#name, kind: this.group.kind, revisions };
  }
}

const nodeAt = (nodes: NodeTable, rev: number): Uint8Array => (rev < 0 ? NULL_NODE : nodes.node(rev));

/** The index of a revlog that is being written: what it is read back by. */
const indexOf = (chains: ChainTable): ChunkIndex => ({
  position: (rev) => chains.chunkOffset(rev),
  chunkLength: (rev) => chains.chunkLength[rev] ?? 0,
  deltaBase: (rev) => chains.base[rev] ?? FULL_TEXT,
  rawSize: (rev) => chains.rawSize[rev] ?? 0,
});
