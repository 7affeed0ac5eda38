/**
 * The requirements of a repository: `.hg/requires` and, where it has `share-safe`, `.hg/store/requires`.
 * What each string means is in the table {@link REQUIREMENTS}; where the meanings come from:
 * `hg help internals.requirements` of Mercurial 7.2, and what Mercurial 6.3 and 7.2 write and accept.
 */
import { RevconvertError } from '../errors.js';
import { asBuffer } from './bytes.js';

/** Who holds a requirement where `share-safe` splits them: `.hg/requires` or `.hg/store/requires`. */
export type RequirementPlace = 'working-copy' | 'store';

/**
 * What this program does about a requirement: `understand`: acts on it; `pass`: carries it and its files over unseen;
 * `refuse`: stops.
 */
export type RequirementAction = 'understand' | 'pass' | 'refuse';

export interface Requirement {
  readonly name: string;
  readonly place: RequirementPlace;
  readonly action: RequirementAction;
  /** A phrase for messages. */
  readonly meaning: string;
}

const UPGRADE_IN_PROGRESS = 'upgradeinprogress';

const ZSTD_REQUIREMENT = 'revlog-compression-zstd';

/** What a store with zstd dictionaries requires, beside `revlog-compression-zstd`: a form of this project, read by its extension for Mercurial. */
export const DICTIONARY_REQUIREMENT = 'exp-revlog-zstd-dictionary.1';

type Row = readonly [name: string, meaning: string];

const rows = (place: RequirementPlace, action: RequirementAction, list: readonly Row[]): Requirement[] =>
  list.map(([name, meaning]) => ({ name, place, action, meaning }));

/** Every requirement known to have been written by a Mercurial or a relative of it. Anything else is refused. */
export const REQUIREMENTS: readonly Requirement[] = [
  ...rows('store', 'understand', [
    ['revlogv1', 'revlogs of version 1; version 0 where absent'],
    ['store', 'files lie in .hg/store with encoded names'],
    ['fncache', 'names reserved on Windows are escaped, long ones hashed, all listed in store/fncache'],
    ['dotencode', 'a leading dot or space of a name is escaped'],
    ['fileindex-v1', 'store/fileindex lists the files instead of fncache; names as with dotencode'],
    ['generaldelta', 'a delta applies to any earlier revision'],
    ['sparserevlog', 'delta chains may have gaps; implies generaldelta'],
    ['delta-info-revlog', 'index entries carry details of their deltas; implies sparserevlog and generaldelta'],
    [ZSTD_REQUIREMENT, 'zstd chunks'],
    ['exp-compression-zstd', 'zstd chunks, older name'],
    ['compenginezstd', 'zstd chunks, name in drafts of the feature'],
    [DICTIONARY_REQUIREMENT, 'zstd chunks compressed with dictionaries of the store'],
    ['exp-compression-none', 'new chunks are not compressed'],
    ['exp-compression-zlib', 'zlib chunks'],
    ['lz4revlog', 'lz4 chunks (lz4revlog extension)'],
    ['treemanifest', 'one manifest per directory, in store/meta'],
    ['narrowhg-experimental', 'part of the files only; ellipsis revisions possible'],
    ['lfs', 'some texts are pointers to large files'],
  ]),
  ...rows('working-copy', 'understand', [
    ['shared', 'the store is that of another repository (sharedpath)'],
    ['relshared', 'the store is that of another repository, by relative path'],
    ['share-safe', 'the requirements of the store are in store/requires'],
  ]),
  ...rows('store', 'pass', [
    ['persistent-nodemap', 'node look-up tables beside the changelog and the manifest'],
    ['bookmarksinstore', 'bookmarks in store/bookmarks'],
    ['internal-phase', 'the internal phase, older form'],
    ['internal-phase-2', 'the internal phase'],
    ['exp-archived-phase', 'the archived phase'],
    ['largefiles', 'large files outside of the revlogs, by the largefiles extension'],
  ]),
  ...rows('working-copy', 'pass', [
    ['dirstate-v2', 'dirstate of version 2'],
    ['dirstate-tracked-key-v1', 'a file that changes when the set of tracked files does'],
    ['exp-sparse', 'sparse working copy'],
  ]),
  ...rows('store', 'refuse', [
    [UPGRADE_IN_PROGRESS, 'an upgrade was interrupted'],
    ['exp-very-fragile-and-unsafe-plain-store-encoding', 'file names in the store are not encoded'],
    ['exp-delta-info-revlog', 'an experimental form of delta-info-revlog'],
    ['exp-revlogv2.0', 'revlog v2, with docket files'],
    ['exp-revlogv2.1', 'revlog v2, with docket files'],
    ['exp-revlogv2.2', 'revlog v2, with docket files'],
    ['exp-changelog-v2', 'changelog-v2, with docket files'],
    ['exp-copies-sidedata-changeset', 'copy data beside the changesets (sidedata), in revlog v2 or changelog-v2'],
    ['exp-sidedata-flag', 'data beside the texts (sidedata)'],
    ['exp-remotefilelog-repo-req-1', 'no file history here: remotefilelog extension'],
    ['remotefilelog', 'no file history here: remotefilelog extension'],
    ['exp-sqlite-001', 'history in an SQLite database'],
    ['exp-sqlite-shallow-files', 'history in an SQLite database'],
    ['git', 'history in a Git repository'],
    ['parentdelta', 'dead forerunner of generaldelta'],
    ['manifestv2', 'dead experimental manifest format'],
    ['treestate', 'Sapling or Facebook Mercurial, whose repositories are no longer Mercurial ones'],
    ['visibleheads', 'Sapling or Facebook Mercurial, whose repositories are no longer Mercurial ones'],
    ['narrowheads', 'Sapling or Facebook Mercurial, whose repositories are no longer Mercurial ones'],
    ['segmentedchangelog', 'Sapling or Facebook Mercurial, whose repositories are no longer Mercurial ones'],
  ]),
];

const BY_NAME: ReadonlyMap<string, Requirement> = new Map(REQUIREMENTS.map((rule) => [rule.name, rule]));

/** What unknown strings of a family mean. */
const REFUSED_FAMILIES: readonly (readonly [prefix: string, meaning: string])[] = [
  ['exp-compression-', 'an unknown compression engine'],
  ['revlog-compression-', 'an unknown compression engine'],
  ['exp-revlogv2', 'revlog v2, with docket files'],
  ['exp-changelog-v', 'changelog-v2 or later, with docket files'],
  ['exp-sqlite-', 'history in an SQLite database'],
  ['exp-revlog-zstd-dictionary', 'a later form of zstd dictionaries'],
];

/** The row of {@link REQUIREMENTS} for a requirement; undefined where it is unknown. */
export const findRequirement = (name: string): Requirement | undefined => BY_NAME.get(name);

const LINE_END = /\r\n|\n|\r/;
const STARTS_ALPHANUMERIC = /^[0-9A-Za-z]/;

/**
 * Reads a requires file as Mercurial does: lines end in LF, CRLF or CR, and the last may have no end. Nothing is
 * trimmed: a space at the end belongs to the name. An empty file is legal: no requirements, as before Mercurial 0.9.2.
 * @param bytes `.hg/requires` or `.hg/store/requires`
 * @returns the requirements; not checked, see {@link checkRequirements}
 * @throws RevconvertError REQUIRES_CORRUPT: a line that is empty or does not begin with an ASCII letter or digit
 */
export function parseRequires(bytes: Uint8Array): Set<string> {
  const lines = asBuffer(bytes).toString('latin1').split(LINE_END);
  if (lines.at(-1) === '') lines.pop();
  lines.forEach((line, index) => {
    if (STARTS_ALPHANUMERIC.test(line)) return;
    const found = line === '' ? 'is empty' : `does not begin with a letter or digit: ${printable(line)}`;
    throw new RevconvertError('REQUIRES_CORRUPT', `line ${index + 1} of the requirements ${found}`);
  });
  return new Set(lines);
}

/**
 * Writes a requires file.
 * @param requirements names as from {@link parseRequires}
 * @returns the file: sorted, each once, LF after each
 */
export function serialiseRequires(requirements: Iterable<string>): Buffer {
  const sorted = [...new Set(requirements)].sort();
  return Buffer.from(sorted.map((name) => `${name}\n`).join(''), 'latin1');
}

/** Names come from the input: nothing in them may act on a terminal. */
const printable = (name: string): string =>
  name.replace(/[^ -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);

function describeRefused(name: string): string {
  const meaning =
    findRequirement(name)?.meaning ?? REFUSED_FAMILIES.find(([prefix]) => name.startsWith(prefix))?.[1] ?? 'unknown';
  return `${printable(name)} (${meaning})`;
}

/**
 * Checks that this program can convert a repository.
 * @param requirements all of its requirements, those of the working copy and of the store together
 * @throws RevconvertError INTERRUPTED_UPGRADE: `upgradeinprogress` is among them, whatever else is;
 *   REQUIRES_CORRUPT: dictionaries of zstd are required and zstd is not;
 *   UNKNOWN_REQUIREMENT: one or more are refused or unknown; the message names and explains each
 */
export function checkRequirements(requirements: ReadonlySet<string>): void {
  if (requirements.has(UPGRADE_IN_PROGRESS)) {
    throw new RevconvertError('INTERRUPTED_UPGRADE', `the repository requires ${UPGRADE_IN_PROGRESS}: an upgrade of it was interrupted`);
  }
  if (requirements.has(DICTIONARY_REQUIREMENT) && !requirements.has(ZSTD_REQUIREMENT)) {
    throw new RevconvertError('REQUIRES_CORRUPT', `the repository requires ${DICTIONARY_REQUIREMENT}, but not ${ZSTD_REQUIREMENT} as well`);
  }
  const refused = [...requirements].filter((name) => (findRequirement(name)?.action ?? 'refuse') === 'refuse').sort();
  if (refused.length === 0) return;
  throw new RevconvertError('UNKNOWN_REQUIREMENT', `the repository requires what this program cannot convert: ${refused.map(describeRefused).join(', ')}`);
}
