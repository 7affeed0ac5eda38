import type { RevconvertError } from '../../errors.js';
import { toRevconvertError } from '../../errors.js';
import { CHUNK_HEADER, encodeRevisionHeader, REVISION_HEADER } from '../../formats/bundle/changegroup.js';
import type { WrittenVersion } from '../../formats/bundle/changegroup-version.js';
import type { ChangegroupRevision, Group } from '../../formats/bundle/items.js';
import type { NodeTableData } from '../../formats/bundle/node-table.js';
import type { TaskPool } from '../../repository/pool.js';
import { createPool } from '../../repository/pool.js';
import type { Run } from '../../repository/work.js';
import { BUILD } from '../bundle-work-kinds.js';
import { BLOCK_BYTES,Blocks } from './blocks.js';
import type { BuildTask, BuiltRevlog, Segment } from './build-tasks.js';
import type { BuildSettings } from './build-tools.js';

type BuildRun = Run<BuildTask, readonly BuiltRevlog[]>;

/** A thread, and the bytes that wait for it. */
interface Lane {
  readonly run: BuildRun;
  queued: number;
  /** It was told of the changesets. */
  isTold: boolean;
  /** What it was given and is not done yet, in order. */
  readonly tasks: Promise<void>[];
}

/** Bytes that may wait for a thread before this one does the next groups itself. */
const MANY_QUEUED = 4 * BLOCK_BYTES;

/** Bytes that may wait for a thread: a group of its own has to wait then. */
const MOST_QUEUED = 32 * BLOCK_BYTES;

/**
 * Hands the chunks of groups to threads. All of a group goes to one, in order; the next group to the one with the least
 * to do, this very thread among them. Small groups travel together.
 */
export class Dispatcher {
  readonly built: BuiltRevlog[] = [];
  /** Bytes of chunks that are done. */
  bytesDone = 0;
  readonly #blocks = new Blocks();
  #pool: Promise<TaskPool<BuildTask, readonly BuiltRevlog[]>> | undefined;
  #lanes: Lane[] | undefined;
  /** Where the group that has begun goes. */
  #sticky: Lane | undefined;
  #block: Buffer | undefined;
  #used = 0;
  #segments: Segment[] = [];
  #changesets: NodeTableData | undefined;
  #failure: RevconvertError | undefined;

  /** @param settings those of the threads, which start when there is enough for them to do */
  constructor(
    private readonly jobs: number,
    private readonly settings: BuildSettings,
  ) {}

  /** Threads that work. */
  get threads(): number {
    return this.#lanes?.length ?? 1;
  }

  /**
   * Takes whole chunks of a group, and copies them.
   * @returns where they lie now, until the next call
   */
  async addChunks(group: Group, version: WrittenVersion, pieces: readonly Uint8Array[]): Promise<Buffer> {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const { block, from } = await this.#reserve(group, version, length);
    let at = from;
    for (const piece of pieces) {
      // Memory that is shared is filled faster than it is set.
      block.fill(piece, at, at + piece.length);
      at += piece.length;
    }
    return block.subarray(from, at);
  }

  /** The same for records. */
  async addRevisions(group: Group, revisions: readonly ChangegroupRevision[]): Promise<Buffer> {
    const length = revisions.reduce((sum, { delta }) => sum + CHUNK_HEADER + REVISION_HEADER['03'] + delta.length, 0);
    const { block, from } = await this.#reserve(group, '03', length);
    let at = from;
    for (const revision of revisions) {
      const header = encodeRevisionHeader(revision, '03');
      block.set(header, at);
      block.set(revision.delta, at + header.length);
      at += header.length + revision.delta.length;
    }
    return block.subarray(from, at);
  }

  /** Says that all chunks of the group that has begun were added, and there was one. */
  async endGroup(group: Group): Promise<void> {
    const last = this.#segments.at(-1);
    if (last?.group === group) {
      last.isLast = true;
      return;
    }
    // What there was of it is on its way already.
    const { from } = await this.#reserve(group, '03', 0);
    this.#segments.push({ group, version: '03', from, to: from, isLast: true });
  }

  /** Says which changesets the groups that follow are linked to. */
  setChangesets(nodes: NodeTableData): void {
    this.#changesets = nodes;
  }

  /** Waits until all is done. @throws RevconvertError of what failed first */
  async finish(): Promise<void> {
    await this.#ship(true);
    await Promise.all((this.#lanes ?? []).flatMap(({ tasks }) => tasks));
    this.#check();
  }

  /** Stops the threads, and waits for them. No file is written, and none is open, after it. */
  async close(): Promise<void> {
    await this.#lanes?.at(-1)?.run({ type: 'abandon' }).catch(() => undefined);
    await (await this.#pool?.catch(() => undefined))?.close();
  }

  async #reserve(group: Group, version: WrittenVersion, length: number): Promise<{ readonly block: Buffer; readonly from: number }> {
    if (this.#block !== undefined && this.#used + length > this.#block.length) await this.#ship();
    const block = (this.#block ??= this.#blocks.take(length));
    const from = this.#used;
    this.#used += length;
    const last = this.#segments.at(-1);
    if (last?.group === group && last.version === version) last.to = this.#used;
    else if (length > 0) this.#segments.push({ group, version, from, to: this.#used, isLast: false });
    return { block, from };
  }

  /**
   * Sends what has gathered to a thread.
   * @param isAll there will be no more
   */
  async #ship(isAll = false): Promise<void> {
    this.#check();
    const { bytes, segments } = { bytes: this.#block, segments: this.#segments };
    if (bytes === undefined || segments.length === 0) return;
    const size = this.#used;
    this.#block = undefined;
    this.#used = 0;
    this.#segments = [];
    const lanes = await this.#start(isAll ? 1 : this.jobs);
    const lane = this.#sticky ?? leastBusy(lanes);
    this.#sticky = segments.at(-1)?.isLast === true ? undefined : lane;
    if (this.#changesets !== undefined && !lane.isTold) {
      lane.isTold = true;
      this.#give(lane, { type: 'changesets', nodes: this.#changesets }, 0);
    }
    this.#give(lane, { type: 'segments', bytes, segments }, size, bytes);
    // What this very thread does is done before more is read.
    const most = lane === lanes.at(-1) ? 0 : MOST_QUEUED;
    while (lane.queued > most) await lane.tasks[0];
    this.#check();
  }

  async #start(jobs: number): Promise<readonly Lane[]> {
    if (this.#lanes !== undefined) return this.#lanes;
    this.#pool = createPool(jobs, { kind: BUILD, settings: this.settings });
    const { lanes } = await this.#pool;
    this.#lanes = [...new Set(lanes)].map((run) => ({ run, queued: 0, isTold: false, tasks: [] }));
    return this.#lanes;
  }

  #give(lane: Lane, task: BuildTask, size: number, block?: Buffer): void {
    lane.queued += size;
    const done = lane.run(task).then(
      (built) => {
        this.built.push(...built);
      },
      (error: unknown) => {
        this.#failure ??= toRevconvertError(error);
      },
    );
    lane.tasks.push(
      done.then(() => {
        void lane.tasks.shift();
        lane.queued -= size;
        this.bytesDone += size;
        if (block !== undefined) this.#blocks.giveBack(block);
      }),
    );
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** The thread that is to do the next groups: the last of them is this very one, which does them where the others have enough to do. */
function leastBusy(lanes: readonly Lane[]): Lane {
  const others = lanes.slice(0, -1).sort((a, b) => a.queued - b.queued);
  const [best] = others;
  const own = lanes.at(-1);
  if (own === undefined) throw new Error('there is always one lane');
  return best !== undefined && best.queued < MANY_QUEUED ? best : own;
}
