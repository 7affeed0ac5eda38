/**
 * The file index, version 1 (requirement `fileindex-v1`, Mercurial 7.2): replaces the fncache. `.hg/store/fileindex` is
 * a docket; the paths are in `fileindex-list.<id>`, where each begins and ends in `fileindex-meta.<id>`. A third file,
 * `fileindex-tree.<id>`, only speeds up look-ups and is not read here. A repository without files has none of these.
 * Format: `hg help internals.file-index` of Mercurial 7.2; compared with files written by 7.2.4.
 *
 * Docket, big-endian (what follows, list of replaced files, is not read):
 *
 *     0  12  "fileindex-v1"          24   8  id of the list file
 *    12   4  used bytes of the list  32   8  id of the meta file
 *    16   4  used bytes of the meta  40   8  id of the tree file
 *    20   4  used bytes of the tree  48  20  root, unused bytes of the tree, flags, two counts
 *
 * Meta: 8 bytes per token; token 0 is no path. u32 start in the list, u16 length, u16 length of the directory part.
 */
import { RevconvertError } from '../errors.js';
import { asBuffer } from './bytes.js';
import type { BytePath } from './store-path.js';

const MARKER = 'fileindex-v1';
const DOCKET_BYTES = 68;
const META_ENTRY_BYTES = 8;
const ID_BYTES = 8;
const ID = /^[0-9A-Za-z]{8}$/;

/** One of the files that a docket points at. */
export interface FileIndexPart {
  /** The name below `.hg/store`. */
  readonly fileName: string;
  /** Bytes of it that count. The file may be longer: a writer appends first. */
  readonly usedBytes: number;
}

/** The docket of a file index, as far as it is needed. */
export interface FileIndexDocket {
  readonly list: FileIndexPart;
  readonly meta: FileIndexPart;
  readonly tree: FileIndexPart;
}

const corrupt = (message: string, offset: number): RevconvertError =>
  new RevconvertError('FNCACHE_CORRUPT', message, { offset });


/**
 * Reads `.hg/store/fileindex`.
 * @param bytes the file
 * @throws RevconvertError FNCACHE_CORRUPT: too short, another format, or an id that is not 8 letters and digits
 */
export function parseFileIndexDocket(bytes: Uint8Array): FileIndexDocket {
  const buffer = asBuffer(bytes);
  if (buffer.toString('latin1', 0, MARKER.length) !== MARKER) throw corrupt(`the file index does not begin with ${MARKER}`, 0);
  if (buffer.length < DOCKET_BYTES) {
    throw corrupt(`the docket of the file index has ${buffer.length} bytes, expected at least ${DOCKET_BYTES}`, buffer.length);
  }
  const part = (kind: string, sizeAt: number, idAt: number): FileIndexPart => {
    const id = buffer.toString('latin1', idAt, idAt + ID_BYTES);
    if (!ID.test(id)) throw corrupt(`the id of the ${kind} file is not 8 letters and digits`, idAt);
    return { fileName: `fileindex-${kind}.${id}`, usedBytes: buffer.readUInt32BE(sizeAt) };
  };
  return { list: part('list', 12, 24), meta: part('meta', 16, 32), tree: part('tree', 20, 40) };
}

/** What counts of a part; the rest is being written by somebody. */
function usedPart(part: FileIndexPart, bytes: Uint8Array): Buffer {
  if (bytes.length < part.usedBytes) {
    throw corrupt(`${part.fileName} has ${bytes.length} bytes, its docket expects ${part.usedBytes}`, bytes.length);
  }
  return asBuffer(bytes).subarray(0, part.usedBytes);
}

/**
 * The paths in a file index. Unlike lines of the fncache these are tracked paths (`Foo/bar.txt`): the revlog of each is
 * `data/<path>.i`, and `data/<path>.d` where it is split, which the file index does not say.
 * @param docket from {@link parseFileIndexDocket}
 * @param list the list file
 * @param meta the meta file
 * @returns the paths in the order of their tokens
 * @throws RevconvertError FNCACHE_CORRUPT: a file shorter than the docket says, or a path that lies outside of the list,
 *   is empty, or has a NUL or newline
 */
export function parseFileIndexPaths(docket: FileIndexDocket, list: Uint8Array, meta: Uint8Array): BytePath[] {
  const paths = usedPart(docket.list, list);
  const entries = usedPart(docket.meta, meta);
  if (entries.length % META_ENTRY_BYTES !== 0) {
    throw corrupt(`${docket.meta.fileName} has ${entries.length} bytes, expected a multiple of ${META_ENTRY_BYTES}`, entries.length);
  }
  const found: BytePath[] = [];
  for (let at = META_ENTRY_BYTES; at < entries.length; at += META_ENTRY_BYTES) {
    const start = entries.readUInt32BE(at);
    const end = start + entries.readUInt16BE(at + 4);
    if (end === start || end > paths.length) {
      throw corrupt(`path ${at / META_ENTRY_BYTES} lies at bytes ${start} to ${end} of ${paths.length} in ${docket.list.fileName}`, at);
    }
    const path = paths.toString('latin1', start, end);
    if (path.includes('\0') || path.includes('\n')) {
      throw corrupt(`path ${at / META_ENTRY_BYTES} has a NUL or newline`, at);
    }
    found.push(path);
  }
  return found;
}
