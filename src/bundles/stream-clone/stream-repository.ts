import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { RevconvertError } from '../../errors.js';
import type { BundleItem } from '../../formats/bundle/items.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import type { BundleSpec } from '../../formats/bundle/spec.js';
import type { StreamHeader, StreamVersion } from '../../formats/bundle/stream-clone.js';
import { encodeStreamHeader, framed, STREAM1_PART, streamPartHeader } from '../../formats/bundle/stream-clone.js';
import { convertRepository } from '../../repository/convert.js';
import { checkNoTransaction, openRepository, type Repository } from '../../repository/open.js';
import type { ConvertOptions } from '../../repository/options.js';
import { DEFAULT_LOCK_TIMEOUT } from '../../repository/options.js';
import type { SourceSnapshot } from '../../repository/source-snapshot.js';
import { checkUnchanged, takeSnapshot } from '../../repository/source-snapshot.js';
import { lockNotice, withSource } from '../../repository/with-source.js';
import { openByteSource } from '../../streams/byte-source.js';
import { Turns } from '../../streams/turns.js';
import type { StreamFile } from './list-store.js';
import { listStore } from './list-store.js';
import { readFiles } from './read-files.js';
import type { ContentOptions } from './stream-content.js';
import { chooseContent } from './stream-content.js';
import { requirementsOfStream, stayBehind } from './stream-requirements.js';

export interface StreamRepositoryOptions extends ContentOptions {
  /** The kind of bundle: packed1, or stream2 in whatever compression. */
  readonly spec: Pick<BundleSpec, 'container' | 'content' | 'compression'>;
  /** Converts the repository first, in a temporary folder. @default it is taken as it is */
  readonly convert?: ConvertOptions | undefined;
  /** Where that folder is made. @default the system's for temporary files */
  readonly temporaryFolder?: string | undefined;
  /** False: do not lock the source. @default true */
  readonly lock?: boolean | undefined;
  /** Seconds to wait for a lock. @default 600 */
  readonly lockTimeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A repository as a stream clone: the files of its store as they are. The source is locked while its files are listed; then
 * as much is read of each as it had, since Mercurial appends to them.
 * @param path the folder that holds `.hg`
 * @returns the items of the bundle
 * @throws RevconvertError BUNDLE_HOLDS: what the kind of bundle cannot bring along; SOURCE_CHANGED: somebody did more than
 *   append; as openRepository, convertRepository
 */
export async function* streamRepository(path: string, options: StreamRepositoryOptions): AsyncGenerator<readonly BundleItem[], void, void> {
  const { spec, convert, temporaryFolder = tmpdir() } = options;
  if (spec.content !== 'stream') throw new RevconvertError('BUNDLE_SPEC', 'a kind of bundle for stream clones is expected: packed1, or v2;stream=v2');
  if (convert === undefined) {
    yield* streamAsItIs(path, options);
    return;
  }
  const { signal, lock, lockTimeout, onNotice } = options;
  const folder = mkdtempSync(join(temporaryFolder, 'revconvert-stream-'));
  try {
    const { notices } = await convertRepository(path, `${folder}/converted`, { signal, lock, lockTimeout, onNotice, ...convert });
    for (const notice of notices) onNotice?.(notice);
    yield* streamAsItIs(`${folder}/converted`, { ...options, lock: false });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is to be read, as it was while the source was locked. */
interface Listing {
  readonly repository: Repository;
  readonly files: readonly StreamFile[];
  readonly requirements: readonly string[];
  /** The revlogs, where the source could not be locked. */
  readonly snapshot: SourceSnapshot | undefined;
  /** The last bytes of the changelog. */
  readonly changelogEnd: Buffer;
}

async function* streamAsItIs(path: string, options: StreamRepositoryOptions): AsyncGenerator<readonly BundleItem[], void, void> {
  const { spec, signal } = options;
  const version = spec.container === 'HGS1' ? 'stream1' : 'stream2';
  const { repository, files, requirements, snapshot, changelogEnd } = await listRepository(path, version, options);
  const header: StreamHeader = { files: files.length, bytes: files.reduce((sum, file) => sum + file.bytes, 0), requirements };
  const part: PartHeader = version === 'stream1' ? STREAM1_PART : streamPartHeader(header, 0);
  yield [{ type: 'bundle', container: spec.container, compression: spec.compression, parameters: [] }, { type: 'part', part, interrupts: false }];
  const before = version === 'stream1' ? encodeStreamHeader(header) : Buffer.alloc(0);
  const turns = new Turns(signal);
  for (const bytes of readFiles(files, version, before)) {
    await turns.give();
    yield framed(bytes);
  }
  if (snapshot !== undefined) checkUnchanged(repository, snapshot);
  if (!lastEntry(files).equals(changelogEnd)) throw new RevconvertError('SOURCE_CHANGED', 'changesets were removed while the repository was read', { path: repository.root });
  yield [{ type: 'part-end' }, { type: 'end' }];
}

async function listRepository(path: string, version: StreamVersion, options: StreamRepositoryOptions): Promise<Listing> {
  // Before any lock: what cannot be streamed is refused at once.
  requirementsOfStream(openRepository(path).requirements);
  const { lock = true, lockTimeout = DEFAULT_LOCK_TIMEOUT, signal, onNotice } = options;
  // eslint wants an action that waits: what is done under the lock must not.
  return withSource(path, { lock, lockTimeout, signal, onNotice }, (repository, locks) => {
    checkNoTransaction(repository);
    const notice = lockNotice(locks, { lock });
    if (notice !== undefined) onNotice?.(notice);
    const requirements = requirementsOfStream(repository.requirements);
    const { files, discovery } = listStore(repository, chooseContent(repository, version, options));
    reportDisorder(discovery, onNotice);
    for (const text of stayBehind(repository.requirements)) onNotice?.(text);
    const snapshot = locks.unlocked === undefined ? undefined : takeSnapshot(repository, discovery.revlogs);
    return Promise.resolve({ repository, files, requirements, snapshot, changelogEnd: lastEntry(files) });
  });
}

const ENTRY_BYTES = 64;

/** The last bytes of the changelog's index, of those that were listed: other ones stand there once changesets were removed, and new ones came. */
function lastEntry(files: readonly StreamFile[]): Buffer {
  const file = files.find(({ name }) => name === '00changelog.i');
  if (file === undefined || file.bytes < ENTRY_BYTES) return Buffer.alloc(0);
  const source = openByteSource(file.path, file.name);
  try {
    // It may have become shorter, which is an answer too.
    return file.bytes > source.size ? Buffer.alloc(0) : source.read(file.bytes - ENTRY_BYTES, ENTRY_BYTES);
  } finally {
    source.close();
  }
}

function reportDisorder({ missing, strays }: { readonly missing: readonly string[]; readonly strays: readonly string[] }, onNotice: ((notice: string) => void) | undefined): void {
  if (missing.length > 0) onNotice?.(`${missing.length} files that the store lists are missing, and not in the bundle: run \`hg verify\` on the source`);
  if (strays.length > 0) onNotice?.(`${strays.length} files of the store are no revlogs, and not in the bundle`);
}
