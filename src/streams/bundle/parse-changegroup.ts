import type { ErrorPlace } from '../../errors.js';
import { RevconvertError } from '../../errors.js';
import { CHUNK_HEADER, hasTreeGroups, REVISION_HEADER } from '../../formats/bundle/changegroup.js';
import type { ChangegroupVersion } from '../../formats/bundle/changegroup-version.js';
import { CHANGEGROUP_VERSIONS } from '../../formats/bundle/changegroup-version.js';
import type { ChangegroupRevision, Group } from '../../formats/bundle/items.js';
import { groupName, MAX_GROUP_BATCH_BYTES, MAX_GROUP_BATCH_REVISIONS } from '../../formats/bundle/items.js';
import { hasSidedata, parseRevision } from '../../formats/bundle/parse-revision.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import { partParameter } from '../../formats/bundle/part-header.js';
import { MAX_NAME } from '../../formats/bundle/stream-clone.js';
import { isReleased04, parseRevision04 } from './parse-revision-04.js';
import type { ParserContext, Parsing } from './parser.js';
import { errorHere, more, take } from './parser.js';

const CHANGELOG: Group = { kind: 'changelog', name: '' };
const MANIFEST: Group = { kind: 'manifest', name: '' };

/**
 * Reads a changegroup.
 * @param part that it is the payload of, or that stands for it: says the version
 * @throws RevconvertError CHANGEGROUP_VERSION, CHANGEGROUP_MALFORMED; what the context says where it is cut; of version 04 also CHUNK_DAMAGED, CHUNK_SIZE, ENGINE_MISSING
 */
export function* parseChangegroup(context: ParserContext, part: PartHeader): Parsing<void> {
  const version = versionOf(part, context.place);
  const state: State = { context, records: context.records(part), version };
  yield* parseGroup(state, CHANGELOG);
  yield* parseGroup(state, MANIFEST);
  if (hasTreeGroups(version)) yield* parseNamedGroups(state, 'manifest');
  yield* parseNamedGroups(state, 'filelog');
}

interface State {
  readonly context: ParserContext;
  readonly records: boolean;
  /** What the chunks are laid out as; of those called 04, which there are two of, known with the first revision. */
  version: ChangegroupVersion;
}

/** @throws RevconvertError CHANGEGROUP_VERSION */
function versionOf(part: PartHeader, place: ErrorPlace): ChangegroupVersion {
  const given = partParameter(part, 'version') ?? '01';
  const version = CHANGEGROUP_VERSIONS.find((one) => one === given);
  if (version === undefined) throw new RevconvertError('CHANGEGROUP_VERSION', `changegroup version ${JSON.stringify(given)}; ${CHANGEGROUP_VERSIONS.join(', ')} are known`, place);
  return version;
}

/** Groups that begin with their name, and an empty chunk behind them. */
function* parseNamedGroups(state: State, kind: Group['kind']): Parsing<void> {
  const { context } = state;
  for (;;) {
    context.place.group = kind === 'manifest' ? 'directories' : 'files';
    const length = yield* chunkLength(context, 'the name of a group');
    if (length === 0) return;
    if (length > CHUNK_HEADER + MAX_NAME) throw errorHere(context, 'CHANGEGROUP_MALFORMED', `a name of ${length - CHUNK_HEADER} bytes, of which no file has more than ${MAX_NAME}`);
    const chunk = yield* take(context, length, 'the name of a group');
    const name = chunk.toString('latin1', CHUNK_HEADER);
    if (kind === 'manifest' && !name.endsWith('/')) throw errorHere(context, 'CHANGEGROUP_MALFORMED', `the name of a directory ends with '/', found ${JSON.stringify(name)}`);
    yield* parseGroup(state, { kind, name });
  }
}

/** The length of the next chunk, which stays; an empty chunk is taken. */
function* chunkLength(context: ParserContext, what: string): Parsing<number> {
  for (;;) {
    const length = context.feed.peekInt32();
    if (length === undefined) {
      yield* more(context, CHUNK_HEADER, what);
      continue;
    }
    if (length !== 0 && length <= CHUNK_HEADER) throw errorHere(context, 'CHANGEGROUP_MALFORMED', `${what}: a chunk cannot have length ${length}`);
    if (length === 0) context.feed.take(CHUNK_HEADER);
    return length;
  }
}

const WHAT = 'a revision';

function* parseGroup(state: State, group: Group): Parsing<void> {
  const { context } = state;
  context.place.group = groupName(group);
  context.emit({ type: 'group', group });
  const batch = state.records || state.version >= '04' ? new RecordBatch(context, group) : new ChunkBatch(context, group, state.version);
  let isFirst = true;
  for (;;) {
    const length = yield* chunkLength(context, WHAT);
    if (length === 0) break;
    const offset = context.feed.position;
    if (length < CHUNK_HEADER + REVISION_HEADER[state.version === '04' ? '05' : state.version]) {
      throw errorHere(context, 'CHANGEGROUP_MALFORMED', `a chunk of ${length} bytes is too short for the header of a revision in version ${state.version}`);
    }
    const chunk = yield* take(context, length, WHAT);
    if (isFirst && state.version === '04' && group.kind === 'changelog' && !isReleased04(chunk)) state.version = '05';
    isFirst = false;
    if (batch instanceof ChunkBatch) batch.add(chunk);
    else batch.add(yield* parseRecord(state, chunk, batch.previous, offset));
  }
  batch.flush();
}

function* parseRecord({ context, version }: State, chunk: Buffer, previous: Uint8Array | undefined, offset: number): Parsing<ChangegroupRevision> {
  if (version === '04') return yield* parseRevision04(context, chunk, offset);
  if (version !== '05' || !hasSidedata(chunk)) return parseRevision(chunk, version, previous, offset);
  const length = yield* chunkLength(context, 'sidedata');
  const sidedata = yield* take(context, length, 'sidedata');
  return parseRevision(chunk, version, previous, offset, sidedata.subarray(CHUNK_HEADER));
}

/** Gathers records. */
class RecordBatch {
  /** The node of the revision before; undefined: there was none in this group. */
  previous: Uint8Array | undefined;
  #revisions: ChangegroupRevision[] = [];
  #bytes = 0;

  constructor(
    private readonly context: ParserContext,
    private readonly group: Group,
  ) {}

  add(revision: ChangegroupRevision): void {
    this.#revisions.push(revision);
    this.#bytes += revision.delta.length;
    this.previous = revision.node;
    if (this.#revisions.length >= MAX_GROUP_BATCH_REVISIONS || this.#bytes >= MAX_GROUP_BATCH_BYTES) this.flush();
  }

  flush(): void {
    if (this.#revisions.length > 0) this.context.emit({ type: 'revisions', group: this.group, revisions: this.#revisions });
    this.#revisions = [];
    this.#bytes = 0;
  }
}

/** Gathers chunks; those that follow each other in memory as one piece. */
class ChunkBatch {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #revisions = 0;

  constructor(
    private readonly context: ParserContext,
    private readonly group: Group,
    private readonly version: ChangegroupVersion,
  ) {}

  add(chunk: Buffer): void {
    const last = this.#pieces.at(-1);
    if (last?.buffer === chunk.buffer && last.byteOffset + last.length === chunk.byteOffset) {
      this.#pieces[this.#pieces.length - 1] = Buffer.from(last.buffer, last.byteOffset, last.length + chunk.length);
    } else {
      this.#pieces.push(chunk);
    }
    this.#bytes += chunk.length;
    this.#revisions++;
    if (this.#bytes >= MAX_GROUP_BATCH_BYTES) this.flush();
  }

  flush(): void {
    const { context, group, version } = this;
    if (this.#revisions > 0) context.emit({ type: 'chunks', group, version, bytes: this.#pieces, revisions: this.#revisions });
    this.#pieces = [];
    this.#bytes = 0;
    this.#revisions = 0;
  }
}

