/**
 * Every way in which this program fails, in one table: the code, whose fault it is, and what to do.
 * Imports nothing, so that every room can use it.
 */

/** Whose fault an error is. The command line maps it to an exit status. */
export type ErrorKind = 'input' | 'usage' | 'system' | 'bug' | 'cancelled';

interface ErrorRule {
  readonly kind: ErrorKind;
  /** What a person can do about it. */
  readonly hint: string;
}

const damaged = 'run `revconvert verify` on the source; --keep-going carries what is damaged over as it is and lists it';

const damagedBundle = 'run `revconvert bundle --verify` on the bundle; get it again from where it was made';

const referred = 'the history does not agree with itself here: pull it anew from a sound clone (`hg clone --pull`)';

/** The codes. A code never changes its meaning once released. */
export const ERROR_RULES = {
  // the input: a repository or revlog that is damaged, unsupported or in no state to be read
  NOT_A_REPOSITORY: { kind: 'input', hint: 'give the folder that holds .hg' },
  SHARED_REPOSITORY: { kind: 'input', hint: 'give the source of the share, where its history is' },
  UNKNOWN_REQUIREMENT: { kind: 'input', hint: 'a newer Mercurial or an extension wrote this repository; convert it back to a known format first' },
  REQUIRES_CORRUPT: { kind: 'input', hint: 'compare .hg/requires with that of another repository; each line is one requirement' },
  ABANDONED_TRANSACTION: { kind: 'input', hint: 'run `hg recover` in the source, then try again' },
  INTERRUPTED_UPGRADE: { kind: 'input', hint: 'an upgrade of the source was interrupted; restore the newest .hg/upgradebackup.*, or remove the line upgradeinprogress once the store is whole' },
  FNCACHE_CORRUPT: { kind: 'input', hint: 'run `hg debugrebuildfncache` in the source' },
  FILE_TOO_LARGE: { kind: 'input', hint: 'this is not the file that it should be; compare it with that of another repository' },
  REVLOG_VERSION: { kind: 'input', hint: 'this revlog format cannot be converted' },
  REVLOG_FLAGS: { kind: 'input', hint: 'this revlog format cannot be converted' },
  INDEX_TRUNCATED: { kind: 'input', hint: damaged },
  INDEX_ENTRY: { kind: 'input', hint: damaged },
  INDEX_TOO_LARGE: { kind: 'input', hint: 'the index is larger than this program reads' },
  DELTA_BASE: { kind: 'input', hint: damaged },
  DATA_TRUNCATED: { kind: 'input', hint: damaged },
  DATA_MISSING: { kind: 'input', hint: damaged },
  CHUNK_MARKER: { kind: 'input', hint: damaged },
  CHUNK_DAMAGED: { kind: 'input', hint: damaged },
  CHUNK_SIZE: { kind: 'input', hint: damaged },
  DELTA_MALFORMED: { kind: 'input', hint: damaged },
  NODE_MISMATCH: { kind: 'input', hint: damaged },
  ENTRY_RANGE: { kind: 'input', hint: 'the revlog is larger than its format allows' },
  DATA_TRAILING: { kind: 'input', hint: 'compare the file with that of another clone; a conversion leaves the bytes behind' },
  DUPLICATE_NODE: { kind: 'input', hint: referred },
  TEXT_MALFORMED: { kind: 'input', hint: referred },
  LINKREV: { kind: 'input', hint: referred },
  FILE_LIST: { kind: 'input', hint: referred },
  REVISION_MISSING: { kind: 'input', hint: referred },
  REVISION_UNNAMED: { kind: 'input', hint: referred },
  COPY_SOURCE: { kind: 'input', hint: referred },
  REVLOG_MISSING: { kind: 'input', hint: damaged },
  DICTIONARY_MISSING: { kind: 'input', hint: 'restore the file from a backup, or from another copy of this very store: without it the chunks that need it cannot be read' },
  DICTIONARY_DAMAGED: { kind: 'input', hint: 'restore the file from a backup, or from another copy of this very store' },
  DICTIONARY_INDEX: { kind: 'input', hint: 'restore store/revlog-dictionaries/index.json from a backup, or correct it: it lists the .zdict files beside it' },
  STORE_DISORDER: { kind: 'input', hint: '`revconvert verify` says whether history refers to the file; `hg debugrebuildfncache` lists what it refers to' },
  LOCKED: { kind: 'system', hint: 'wait for the other process, give a longer --lock-timeout, or use --no-lock on a repository that nobody writes to' },
  // the input: a bundle
  NOT_A_BUNDLE: { kind: 'input', hint: 'a Mercurial bundle begins with HG10, HG20 or HGS1; look at the first lines of the file: a download may have brought an error page' },
  BUNDLE_VERSION: { kind: 'input', hint: 'a newer Mercurial wrote this kind of bundle; write another kind there (see `hg help bundlespec`)' },
  BUNDLE_PARAMETER: { kind: 'input', hint: 'whoever wrote this bundle relies on something that this program does not know; write it without, or use a newer version' },
  BUNDLE_TRUNCATED: { kind: 'input', hint: 'the bundle is not whole: get it again, and compare its size' },
  BUNDLE_TRAILING: { kind: 'input', hint: 'there are bytes behind the end of the bundle: get it again; where it must be read, cut them off' },
  BUNDLE_COMPRESSION: { kind: 'input', hint: 'the compressed data is damaged: get the bundle again' },
  WINDOW_SIZE: { kind: 'input', hint: 'the bundle needs more memory than is allowed; --max-window raises the limit where you trust it' },
  PART_UNKNOWN: { kind: 'input', hint: 'a newer Mercurial or an extension wrote this part; --drop-part leaves it out' },
  PART_MALFORMED: { kind: 'input', hint: 'the bundle is damaged: get it again' },
  CHANGEGROUP_VERSION: { kind: 'input', hint: 'write the bundle with changegroup version 01, 02 or 03 (`hg bundle -t "none-v2;cg.version=02"`)' },
  CHANGEGROUP_MALFORMED: { kind: 'input', hint: 'the bundle is damaged: get it again' },
  BASE_MISSING: { kind: 'input', hint: 'the bundle is incremental, or damaged: what is asked for needs a bundle that holds this revision too (hg bundle -a; for a range of a repository --from-repo makes any kind)' },
  PARENT_MISSING: { kind: 'input', hint: 'the bundle is incremental, or damaged: what is asked for needs a bundle that holds this revision too (hg bundle -a; for a range of a repository --from-repo makes any kind)' },
  BUNDLE_ABORTED: { kind: 'input', hint: 'whoever made the bundle stopped with this message: have it made again' },
  BUNDLE_HOLDS: { kind: 'input', hint: 'the message says what to do; `revconvert bundle --help` lists the kinds of bundles' },
  // what was asked for
  BUNDLE_SPEC: { kind: 'usage', hint: 'see `revconvert bundle --help` for the kinds of bundles' },
  FILTER_MODULE: { kind: 'usage', hint: 'a filter is an ES module whose default export is an object, or a function that makes one; see docs/bundles.md' },
  BZIP_PROGRAM: { kind: 'usage', hint: 'install it (apt-get install bzip2, dnf install bzip2, brew install bzip2), or choose zstd or gzip' },
  USAGE: { kind: 'usage', hint: 'see `revconvert --help`' },
  ENGINE_UNKNOWN: { kind: 'usage', hint: 'see `revconvert --help` for the engines' },
  ENGINE_MISSING: { kind: 'usage', hint: 'install the package named, or choose another engine (npm builds zstd-napi only where its install script is allowed: --allow-scripts=zstd-napi)' },
  DICTIONARY: { kind: 'usage', hint: 'give a dictionary that `zstd --train` made, or a repository that has some; see `revconvert --help`' },
  ZSTD_PROGRAM: { kind: 'usage', hint: 'install it (apt-get install zstd, dnf install zstd, brew install zstd), or give dictionaries that there are: --dict FILE needs no program' },
  POLICY: { kind: 'usage', hint: 'correct the policy; `revconvert --help` says what it is made of' },
  LEVEL: { kind: 'usage', hint: 'see `revconvert --help` for the levels of each engine' },
  DESTINATION_EXISTS: { kind: 'usage', hint: 'give a folder that does not exist yet, or an empty one' },
  DESTINATION_PARENT: { kind: 'usage', hint: 'make the folder first (mkdir -p)' },
  DESTINATION_OVERLAPS: { kind: 'usage', hint: 'source and destination must be different folders, neither inside the other' },
  // the machine
  PERMISSION: { kind: 'system', hint: 'check the owner and the mode of the file, and who runs this' },
  NO_SPACE: { kind: 'system', hint: 'free some room (df), or choose another destination; nothing was left behind' },
  SYSTEM: { kind: 'system', hint: 'the system refused; see the message' },
  SOURCE_CHANGED: { kind: 'system', hint: 'something wrote to the source while it was read without its lock; try again, with the lock or when nobody writes' },
  // ours
  CHECK_FAILED: { kind: 'bug', hint: 'what was compressed did not decompress to the same bytes: check the memory of this machine and report it; nothing was left behind' },
  INTERNAL: { kind: 'bug', hint: 'this is a bug in revconvert; please report it with the command and this message' },
  CANCELLED: { kind: 'cancelled', hint: 'nothing was left behind' },
} as const satisfies Record<string, ErrorRule>;

export type ErrorCode = keyof typeof ERROR_RULES;

/** Where in the input an error was found. */
export interface ErrorPlace {
  /** The file, as a path or as the store names it. */
  readonly path?: string;
  /** The revision, counted from 0. */
  readonly rev?: number;
  /** The byte in the file, counted from 0; in a compressed bundle of what it decompresses to. */
  readonly offset?: number;
  /** The part of a bundle: its type, and its number where it has one. */
  readonly part?: string;
  /** The group of a changegroup: `changelog`, `manifest`, a directory of a tree manifest, or the name of a file. */
  readonly group?: string;
  /** The revision, by its node in hexadecimal, where it has no number. */
  readonly node?: string;
}

/** An error as plain data: crosses threads and goes into JSON. */
export interface ErrorData {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  readonly at: ErrorPlace;
}

/** The one error class of this program. `code` says what, `at` says where, `hint` says what to do. */
export class RevconvertError extends Error {
  override readonly name = 'RevconvertError';

  /**
   * @param code what went wrong, from {@link ERROR_RULES}
   * @param message what was expected and what was found; the place is added by {@link describeError}
   * @param at where
   * @param options `cause`: the error underneath
   */
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly at: ErrorPlace = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  get kind(): ErrorKind {
    return ERROR_RULES[this.code].kind;
  }

  get hint(): string {
    const { hint } = ERROR_RULES[this.code];
    // In a bundle there is nothing to carry over, and another command to verify it.
    return hint === damaged && (this.at.part !== undefined || this.at.group !== undefined) ? damagedBundle : hint;
  }

  /** The same error with more of its place known; what is already known stays. */
  located(at: ErrorPlace): RevconvertError {
    return new RevconvertError(this.code, this.message, { ...at, ...this.at }, { cause: this.cause });
  }

  toJSON(): ErrorData {
    return { code: this.code, message: this.message, hint: this.hint, at: this.at };
  }

  static fromJSON(data: ErrorData): RevconvertError {
    return new RevconvertError(data.code, data.message, data.at);
  }
}

/** One line: the place, then the message. */
export function describeError(error: Pick<ErrorData, 'message' | 'at'>): string {
  const { path, part, group, node, rev, offset } = error.at;
  const place = [
    path,
    part === undefined ? undefined : `part ${part}`,
    group === undefined ? undefined : `group ${group}`,
    node === undefined ? undefined : `node ${node}`,
    rev === undefined ? undefined : `rev ${rev}`,
    offset === undefined ? undefined : `offset ${offset}`,
  ].filter((part) => part !== undefined);
  return place.length === 0 ? error.message : `${place.join(', ')}: ${error.message}`;
}

const SYSTEM_CODES: Readonly<Partial<Record<string, ErrorCode>>> = {
  EACCES: 'PERMISSION',
  EPERM: 'PERMISSION',
  EROFS: 'PERMISSION',
  ENOSPC: 'NO_SPACE',
  EDQUOT: 'NO_SPACE',
  EFBIG: 'NO_SPACE',
};

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';

/**
 * Any thrown value as one of ours: system errors by their errno, aborts as CANCELLED, the rest as INTERNAL.
 * @param error whatever was thrown
 * @param at where, when the error does not say
 */
export function toRevconvertError(error: unknown, at: ErrorPlace = {}): RevconvertError {
  if (error instanceof RevconvertError) return error.located(at);
  if (error instanceof Error && error.name === 'AbortError') {
    return new RevconvertError('CANCELLED', 'interrupted', {}, { cause: error });
  }
  if (isSystemError(error)) {
    const place = error.path === undefined ? at : { path: error.path };
    return new RevconvertError(SYSTEM_CODES[error.code ?? ''] ?? 'SYSTEM', error.message, place, { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new RevconvertError('INTERNAL', message, at, { cause: error });
}
