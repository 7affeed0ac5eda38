import type { ErrorData } from '../../errors.js';
import { ENTRY_SIZE } from '../../formats/revlog-index.js';
import type { BytePath } from '../../formats/store-path.js';
import { below } from '../byte-path.js';
import type { RevlogSource } from '../discover.js';
import { bytesOf } from '../plan.js';
import { group, runInLanes } from '../schedule.js';
import { shareBytes } from '../shared-memory.js';
import type { Run } from '../work.js';
import { Changesets } from './changesets.js';
import { settleFailures } from './failures.js';
import type { CrossFindings, History, KnownRevlog } from './history.js';
import { folderOfManifest, known } from './history.js';
import { NameCheck } from './named.js';
import { openTolerant } from './open.js';
import { cutByRawBytes } from './ranges.js';
import { RevisionTable } from './revisions.js';
import { BROKEN, columnsOf, inputFault } from './revlog.js';
import type { References, RevisionColumns, Unhashed, VerifiedPart, VerifyResult, VerifySettings, VerifySubject, VerifyTask } from './tasks.js';

export interface StoreVerification {
  readonly revlogs: readonly RevlogSource[];
  readonly storeFolder: string;
  readonly settings: VerifySettings;
  readonly isInside: (path: BytePath) => boolean;
  readonly lanes: readonly Run<VerifyTask, VerifyResult>[];
  readonly signal: AbortSignal | undefined;
  /** Called with the stored bytes of each piece that is done, and whether it ends a number of revlogs. */
  readonly onDone: (bytes: number, revlogs: number) => void;
  readonly findings: CrossFindings;
}

export interface StoreFacts {
  readonly history: History;
  readonly unhashed: Unhashed;
}

/** A revlog with more stored bytes than this is opened here, so that it can be cut. */
const LARGE_BYTES = 1 << 18;

/** A task, and what is done with its result. */
interface Piece {
  readonly task: VerifyTask;
  readonly bytes: number;
  readonly ids: readonly number[];
  /** @returns revlogs that are complete now */
  readonly take: (result: VerifyResult) => number;
}

/**
 * Looks at every revision of every revlog. The changelog comes first and manifests last: what they name is looked up in
 * the filelogs as it comes, and not kept.
 * @throws RevconvertError CANCELLED, PERMISSION, SYSTEM
 */
export async function verifyStore(verification: StoreVerification): Promise<StoreFacts> {
  const state = new StoreState(verification);
  const perform = async (piece: Piece, run: Run<VerifyTask, VerifyResult>): Promise<void> => {
    const result = await run(piece.task);
    verification.onDone(piece.bytes, piece.take(result));
    state.takeReferences(result.references, piece.ids);
  };
  await runInLanes(state.pieces(), verification.lanes, perform, verification.signal);
  return state.finish();
}

const ORDER = { changelog: 0, filelog: 1, manifest: 2 } as const;

class StoreState {
  readonly #known: readonly KnownRevlog[];
  readonly #table = new RevisionTable();
  readonly #changesets = new Changesets();
  readonly #broken = new Set<number>();
  readonly #unsound = new Map<number, Set<number>>();
  readonly #named = new Set<number>();
  readonly #stale = new Set<number>();
  readonly #byName: Map<BytePath, number>;
  readonly #names: NameCheck;
  readonly #waiting: { readonly references: References; readonly ids: readonly number[] }[] = [];
  readonly #unhashed = { censored: 0, ellipsis: 0, external: 0 };
  /** Revlogs of which nothing is known yet. */
  #missing: number;

  constructor(private readonly verification: StoreVerification) {
    this.#known = verification.revlogs.map(known);
    this.#missing = this.#known.length;
    this.#byName = new Map(this.#known.map(({ id, source }) => [source.name, id]));
    const { isInside } = verification;
    this.#names = new NameCheck({ revlogs: this.#known, byName: this.#byName, table: this.#table, broken: this.#broken, named: this.#named, isInside });
  }

  *pieces(): Generator<Piece, void, void> {
    const small: KnownRevlog[] = [];
    const inOrder = [...this.#known].sort((a, b) => ORDER[a.source.kind] - ORDER[b.source.kind] || bytesOf(b.source) - bytesOf(a.source) || a.id - b.id);
    for (const [i, revlog] of inOrder.entries()) {
      if (bytesOf(revlog.source) > LARGE_BYTES) {
        // The groups of a kind come behind its large ones: manifests last.
        if (revlog.source.kind === 'manifest' && inOrder[i - 1]?.source.kind !== 'manifest') yield* this.#groups(small.splice(0));
        yield* this.#largePieces(revlog);
      } else small.push(revlog);
    }
    yield* this.#groups(small);
  }

  *#groups(small: readonly KnownRevlog[]): Generator<Piece, void, void> {
    for (const members of group(small, ({ source }) => bytesOf(source))) {
      yield {
        task: { type: 'revlogs', jobs: members.map((revlog) => ({ ...this.#subject(revlog), ...this.#files(revlog) })) },
        bytes: members.reduce((sum, { source }) => sum + bytesOf(source), 0),
        ids: members.map(({ id }) => id),
        take: (result) => {
          this.#takeChangesets(result);
          for (const part of result.parts) {
            this.#learn(part.id, part.columns ?? BROKEN);
            this.#settle(part.id, [part], () => -1);
          }
          return result.parts.length;
        },
      };
    }
  }

  *#largePieces(revlog: KnownRevlog): Generator<Piece, void, void> {
    const subject = this.#subject(revlog);
    const files = this.#files(revlog);
    let opened: ReturnType<typeof openTolerant>;
    try {
      opened = openTolerant(files, subject, this.verification.settings);
    } catch (error) {
      const fault = inputFault(error, revlog.name).toJSON();
      this.#learn(revlog.id, BROKEN);
      this.#settle(revlog.id, [partOf(revlog.id, [fault], new Int32Array(0))], () => -1);
      this.verification.onDone(bytesOf(revlog.source), 1);
      return;
    }
    const { reader, faults, unreadable } = opened;
    reader.close();
    const { index } = reader;
    this.#learn(revlog.id, columnsOf(index));
    const parts = [partOf(revlog.id, faults.map((fault) => fault.toJSON()), Int32Array.from([...unreadable].flat()))];
    const table = shareBytes(index.table);
    const ranges = cutByRawBytes(index, ENTRY_SIZE);
    let left = ranges.length;
    for (const { from, to, bytes } of ranges) {
      yield {
        task: {
          type: 'range',
          job: { ...subject, table, header: index.header, unreadable: Int32Array.from(unreadable.keys()), chunkFile: index.header.inline ? files.indexFile : files.dataFile, from, to },
        },
        bytes,
        ids: [revlog.id],
        take: (result) => {
          this.#takeChangesets(result);
          parts.push(...result.parts);
          if (--left > 0) return 0;
          this.#settle(revlog.id, parts, (rev) => index.deltaBase(rev));
          return 1;
        },
      };
    }
  }

  /** Follows references once all that they can lead to is known. */
  takeReferences(references: References, ids: readonly number[]): void {
    if (references.entries.length > 0) this.#waiting.push({ references, ids });
    if (this.#missing > 0) return;
    for (const waiting of this.#waiting.splice(0)) this.#names.take(waiting.references, waiting.ids);
  }

  finish(): StoreFacts {
    this.#names.finish(this.verification.findings, this.#changesets.hasCut);
    const history: History = {
      revlogs: this.#known,
      byName: this.#byName,
      table: this.#table,
      changesets: this.#changesets,
      broken: this.#broken,
      unsound: this.#unsound,
      named: this.#named,
      stale: this.#stale,
      gone: this.#names.gone,
      isInside: this.verification.isInside,
    };
    return { history, unhashed: this.#unhashed };
  }

  #subject({ id, source, name }: KnownRevlog): VerifySubject {
    return { id, name, kind: source.kind, folder: folderOfManifest(source.name) };
  }

  #files({ source }: KnownRevlog): { readonly indexFile: string | Buffer; readonly dataFile: string | Buffer } {
    const { storeFolder } = this.verification;
    return { indexFile: below(storeFolder, source.indexPath), dataFile: below(storeFolder, source.dataPath) };
  }

  #takeChangesets({ changesets }: VerifyResult): void {
    if (changesets !== undefined) this.#changesets.add(changesets);
  }

  #learn(id: number, { nodes, linkRevs, isBroken, needsNoData }: RevisionColumns): void {
    this.#missing--;
    if (needsNoData && (this.#known[id]?.source.dataBytes ?? 0) > 0) this.#stale.add(id);
    if (isBroken) this.#broken.add(id);
    const path = this.#known[id]?.name ?? '';
    this.#table.add(id, nodes, linkRevs, (rev, first) => this.verification.findings.fault('DUPLICATE_NODE', `has the node of rev ${first}`, { path, rev }));
  }

  /** Takes in what was found in all parts of a revlog. */
  #settle(id: number, parts: readonly VerifiedPart[], baseOf: (rev: number) => number): void {
    const { faults, causes } = settleFailures(parts, baseOf);
    this.verification.findings.damage.push(...faults);
    const unsound = new Set(causes.keys());
    for (const { code, at } of faults) if ((code === 'TEXT_MALFORMED' || code === 'DELTA_MALFORMED') && at.rev !== undefined) unsound.add(at.rev);
    if (unsound.size > 0) this.#unsound.set(id, unsound);
    for (const { unhashed, rehashed } of parts) {
      for (const { rev, node } of rehashed) this.#table.addAlias(id, rev, node);
      this.#unhashed.censored += unhashed.censored;
      this.#unhashed.ellipsis += unhashed.ellipsis;
      this.#unhashed.external += unhashed.external;
    }
  }
}

const partOf = (id: number, faults: readonly ErrorData[], failed: Int32Array): VerifiedPart => ({
  id,
  faults,
  failed,
  unhashed: { censored: 0, ellipsis: 0, external: 0 },
  rehashed: [],
  columns: undefined,
});
