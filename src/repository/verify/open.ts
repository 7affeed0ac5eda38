import { RevconvertError, toRevconvertError } from '../../errors.js';
import { FLAG_ELLIPSIS, FLAG_EXTERNAL, FLAG_HAS_META, FLAG_SNAPSHOT, FLAGS_QUALITY } from '../../formats/revision-flags.js';
import { checkEntry, encodeEntry, ENTRY_SIZE, RevlogIndex, viewOf } from '../../formats/revlog-index.js';
import { openByteSource } from '../../streams/byte-source.js';
import { readIndex } from '../../streams/read-index.js';
import type { RevlogReader } from '../../streams/read-revlog.js';
import { createReader, openDataOf } from '../../streams/read-revlog.js';
import type { VerifySettings, VerifySubject } from './tasks.js';

/** A revlog whose index was read; entries that are no good are harmless now. */
export interface OpenedRevlog {
  readonly reader: RevlogReader;
  readonly faults: readonly RevconvertError[];
  /** Revisions that cannot be read. The first of the pair is the revision, the second that whose fault it is. */
  readonly unreadable: ReadonlyMap<number, number>;
}

/** Flags that no Mercurial knows. */
const UNKNOWN_FLAGS = 0x003f;
/** Flags that the header of the revlog has to announce. */
const DELTA_INFO_FLAGS = FLAG_SNAPSHOT | FLAGS_QUALITY;
/** Flags that a requirement has to allow: history that is cut, text that lies elsewhere. */
const FLAGS_BY_REQUIREMENT = FLAG_ELLIPSIS | FLAG_EXTERNAL;

/**
 * Opens a revlog and carries on behind entries that are no good.
 * @throws RevconvertError REVLOG_VERSION, REVLOG_FLAGS, INDEX_*, DATA_MISSING, PERMISSION, SYSTEM: nothing can be read
 */
export function openTolerant(files: { readonly indexFile: string | Buffer; readonly dataFile: string | Buffer }, subject: VerifySubject, settings: VerifySettings): OpenedRevlog {
  const { name: path, kind } = subject;
  const source = openByteSource(files.indexFile, path);
  const faults: RevconvertError[] = [];
  const unreadable = new Map<number, number>();
  let reader: RevlogReader;
  try {
    const found = readIndex(source);
    if (!settings.deltaInfo && (found.header.deltaInfo || found.header.filelogMeta)) {
      faults.push(new RevconvertError('REVLOG_FLAGS', 'its header has flags that no requirement of the repository allows', { path, offset: 0 }));
    }
    const index = mendIndex(found, settings, (error, isReadable) => {
      const located = toRevconvertError(error, { path });
      faults.push(located);
      if (!isReadable && located.at.rev !== undefined) unreadable.set(located.at.rev, located.at.rev);
    });
    const beyond: RevconvertError[] = [];
    reader = createReader(source, index, { path, kind, openData: () => openDataOf(index, files, path), onDamage: (error) => beyond.push(error) });
    takeBeyond(beyond, faults, unreadable);
  } catch (error) {
    source.close();
    throw error;
  }
  if (reader.trailingBytes > 0 && faults.length === 0) {
    faults.push(new RevconvertError('DATA_TRAILING', `${reader.trailingBytes} bytes behind the last chunk that no revision refers to`, { path }));
  }
  return { reader, faults, unreadable };
}

/** Data that ends too early is one fault, of the first revision that it takes away. */
function takeBeyond(beyond: readonly RevconvertError[], faults: RevconvertError[], unreadable: Map<number, number>): void {
  const first = beyond.at(-1);
  if (first?.at.rev === undefined) return;
  faults.push(first);
  for (const { at } of beyond) if (at.rev !== undefined) unreadable.set(at.rev, first.at.rev);
}

type Report = (error: unknown, isReadable: boolean) => void;

/** Looks at every entry, and puts a harmless one in the place of what nobody could read by. */
function mendIndex(index: RevlogIndex, { unhashedFlags }: VerifySettings, report: Report): RevlogIndex {
  let mended: RevlogIndex | undefined;
  let end = 0;
  for (let rev = 0; rev < index.length; rev++) {
    try {
      const next = checkEntry(index, rev, end);
      checkRoom(index, rev, end, next);
      end = next;
      checkFlags(index, rev, unhashedFlags, report);
    } catch (error) {
      report(error, false);
      mended ??= new RevlogIndex(index.header, Uint8Array.from(index.table));
      makeHarmless(mended, index, rev, end);
    }
  }
  return mended ?? index;
}

/** Where a chunk reaches into the next one it is its own entry that is wrong, if the next one agrees with those before. */
function checkRoom(index: RevlogIndex, rev: number, start: number, end: number): void {
  if (rev + 1 >= index.length) return;
  const next = index.offset(rev + 1);
  if (end <= next || next < start) return;
  throw new RevconvertError('INDEX_ENTRY', `chunk ends at ${end}, the next one begins at ${next}`, { rev });
}

function checkFlags(index: RevlogIndex, rev: number, allowed: number, report: Report): void {
  const { deltaInfo, filelogMeta } = index.header;
  const unknown = UNKNOWN_FLAGS | (deltaInfo ? 0 : DELTA_INFO_FLAGS) | (filelogMeta ? 0 : FLAG_HAS_META);
  const flags = index.flags(rev) & (unknown | (FLAGS_BY_REQUIREMENT & ~allowed));
  if (flags === 0) return;
  const why = (flags & unknown) !== 0 ? 'not known in such a revlog' : 'not allowed by any requirement';
  report(new RevconvertError('INDEX_ENTRY', `flags 0x${flags.toString(16)} are ${why}`, { rev }), true);
}

function makeHarmless(mended: RevlogIndex, index: RevlogIndex, rev: number, end: number): void {
  const linkRev = Math.max(-1, index.linkRev(rev));
  const entry = { offset: end, flags: 0, chunkLength: 0, rawSize: Math.max(-1, index.rawSize(rev)), baseField: rev, linkRev, p1: -1, p2: -1, node: Uint8Array.from(index.node(rev)) };
  encodeEntry(viewOf(mended.table), rev * ENTRY_SIZE, entry);
}
