import { RevconvertError } from '../errors.js';

/**
 * The header of a revlog: the first four bytes of its index, big-endian.
 * Low 16 bits: version. High 16 bits: flags. Source: `hg help internals.revlogs`, and Mercurial 7.2 for bits 18 and 19.
 */
export interface RevlogHeader {
  readonly version: 0 | 1;
  /** Chunks stand between the index entries; there is no data file. */
  readonly inline: boolean;
  /** The base of a delta is any earlier revision; without it, always the previous one. */
  readonly generaldelta: boolean;
  /** Mercurial 7.1+: the entry flag HASMETA says which filelog texts begin with metadata. */
  readonly filelogMeta: boolean;
  /** Mercurial 7.1+: entry flags say which deltas are snapshots, and how good they are. */
  readonly deltaInfo: boolean;
}

const INLINE = 1 << 16;
const GENERALDELTA = 1 << 17;
const FILELOG_META = 1 << 18;
const DELTA_INFO = 1 << 19;
const KNOWN_V1_FLAGS = INLINE | GENERALDELTA | FILELOG_META | DELTA_INFO;

/** Formats that are recognised only to be refused by name: their index is a docket that points at other files. */
const DOCKETS: ReadonlyMap<number, string> = new Map([
  [0xdead, 'revlog version 2 (a docket, exp-revlogv2)'],
  [0xd34d, 'changelog-v2 (a docket, exp-changelog-v2)'],
]);

const hex = (value: number): string => `0x${value.toString(16).padStart(4, '0')}`;

/**
 * @param word the first four bytes of the index, as an unsigned number
 * @throws RevconvertError REVLOG_VERSION (unknown version, docket formats by name), REVLOG_FLAGS (unknown flag bits)
 */
export function parseRevlogHeader(word: number): RevlogHeader {
  const version = word & 0xffff;
  const docket = DOCKETS.get(version);
  if (docket !== undefined) throw new RevconvertError('REVLOG_VERSION', `${docket} is not supported`);
  if (version !== 0 && version !== 1) {
    throw new RevconvertError('REVLOG_VERSION', `unknown revlog version ${hex(version)}; 0 and 1 are known`);
  }
  const flags = (word & ~0xffff) >>> 0;
  const unknown = (flags & ~(version === 1 ? KNOWN_V1_FLAGS : 0)) >>> 0;
  if (unknown !== 0) {
    throw new RevconvertError('REVLOG_FLAGS', `unknown flags ${hex(unknown >>> 16)} in the header of a version ${version} revlog`);
  }
  return {
    version,
    inline: (word & INLINE) !== 0,
    generaldelta: (word & GENERALDELTA) !== 0,
    filelogMeta: (word & FILELOG_META) !== 0,
    deltaInfo: (word & DELTA_INFO) !== 0,
  };
}

/** The first four bytes of an index as an unsigned number: the reverse of {@link parseRevlogHeader}. */
export function encodeRevlogHeader(header: RevlogHeader): number {
  return (
    header.version |
    (header.inline ? INLINE : 0) |
    (header.generaldelta ? GENERALDELTA : 0) |
    (header.filelogMeta ? FILELOG_META : 0) |
    (header.deltaInfo ? DELTA_INFO : 0)
  );
}
