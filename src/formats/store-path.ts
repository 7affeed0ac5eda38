/**
 * Names in the store: from what Mercurial calls a file (`data/<path>.i`, `meta/<dir>/00manifest.i`) to where it lies
 * on disk below `.hg/store` (below `.hg` where there is no store), and back.
 * The rules were taken from `hg help internals.requirements`, the published vectors and observed behaviour of
 * Mercurial 6.3 and 7.2; the interop tests compare every rule with the real thing, byte for byte.
 */
import { createHash } from 'node:crypto';

/**
 * A path as Mercurial has it: BYTES, one per character ('latin1'), separated by `/`.
 * Give the file system `Buffer.from(path, 'latin1')`, never the string: Node would encode that as UTF-8.
 */
export type BytePath = string;

/**
 * How a repository names the files of its store; what each adds to the one before:
 * - `plain-dir`: requirement `store` absent: directory encoding only
 * - `store`: requirement `store` alone: upper case and unusual bytes are escaped
 * - `fncache`: requirement `fncache` without `dotencode`: names reserved on Windows are escaped, long names hashed
 * - `dotencode`: requirement `dotencode`, or `fileindex-v1`: a leading dot or space is escaped
 */
export type StoreEncoding = 'plain-dir' | 'store' | 'fncache' | 'dotencode';

/** A longer encoded name is replaced by its hashed form. */
const MAX_ENCODED_BYTES = 120;
/** In a hashed name: bytes kept of each directory, and of all of them joined. */
const MAX_SHORT_DIRECTORY_BYTES = 8;
const MAX_SHORT_DIRECTORIES_BYTES = 68;
const HASHED_PREFIX = 'dh/';
/** `data/` and `meta/` are left out of hashed names. */
const KIND_PREFIX_BYTES = 5;

/** For each byte what replaces it; the empty string: it stays. */
type ByteTable = readonly string[];

const FIRST_PRINTABLE = 0x20;
/** Escaped themselves or not allowed in names on Windows; `~` begins an escape. */
const RESERVED = '\\:*?"<>|~';

const hexEscape = (byte: number): string => `~${byte.toString(16).padStart(2, '0')}`;

function byteTable(upperCase: (lower: string) => string, underscore: string): ByteTable {
  return Array.from({ length: 256 }, (_, byte) => {
    const char = String.fromCharCode(byte);
    if (byte < FIRST_PRINTABLE || byte >= 0x7e || RESERVED.includes(char)) return hexEscape(byte);
    if (char >= 'A' && char <= 'Z') return upperCase(char.toLowerCase());
    return char === '_' ? underscore : '';
  });
}

/** Reversible: `A` is `_a`, `_` is `__`. */
const STORE_TABLE = byteTable((lower) => `_${lower}`, '__');
/** For hashed names: `A` is `a`. */
const LOWER_TABLE = byteTable((lower) => lower, '');

function replaceBytes(path: BytePath, table: ByteTable): string {
  let replaced = '';
  let start = 0;
  for (let at = 0; at < path.length; at++) {
    const replacement = table[path.charCodeAt(at)];
    if (replacement) {
      replaced += path.slice(start, at) + replacement;
      start = at + 1;
    }
  }
  return start === 0 ? path : replaced + path.slice(start);
}

const REVLOG_LIKE_DIRECTORY = /(\.(?:hg|i|d))\//g;
const ENCODED_DIRECTORY = /(\.(?:hg|i|d))\.hg\//g;

/**
 * Directory encoding: `.hg` is appended to every directory that ends in `.hg`, `.i` or `.d`, so that none can clash
 * with a revlog. Lines of the fncache are in this form.
 * @param name an unencoded store name
 */
export const encodeDirectories = (name: BytePath): BytePath => name.replace(REVLOG_LIKE_DIRECTORY, '$1.hg/');

/**
 * The reverse of {@link encodeDirectories}.
 * @param name a name in directory-encoded form, as in the fncache
 * @returns the unencoded store name
 */
export const decodeDirectories = (name: BytePath): BytePath => name.replace(ENCODED_DIRECTORY, '$1/');

/** Matches where any component may need {@link protectComponent}: most names pass through on this test alone. */
const NEEDS_PROTECTION = /[. ](?:\/|$)|(?:^|\/)(?:[. ]|(?:aux|con|prn|nul|com[1-9]|lpt[1-9])(?:[./]|$))/;
const RESERVED_NAME = /^(?:aux|con|prn|nul|com[1-9]|lpt[1-9])(?:\.|$)/;
const RESERVED_ESCAPE_AT = 2;

const isDotOrSpace = (char: string | undefined): boolean => char === '.' || char === ' ';

/** Escapes one byte of a component, counted from 0; from the end where negative. */
function escapeByteAt(component: string, at: number): string {
  const index = at < 0 ? component.length + at : at;
  return component.slice(0, index) + hexEscape(component.charCodeAt(index)) + component.slice(index + 1);
}

/** Names that Windows or macOS treat specially: `aux.txt` is `au~78.txt`, `x.` is `x~2e`, with `dots` `.x` is `~2ex`. */
function protectComponent(component: string, dots: boolean): string {
  let result = component;
  if (dots && isDotOrSpace(result[0])) result = escapeByteAt(result, 0);
  else if (RESERVED_NAME.test(result)) result = escapeByteAt(result, RESERVED_ESCAPE_AT);
  return isDotOrSpace(result.at(-1)) ? escapeByteAt(result, -1) : result;
}

function protectComponents(path: string, dots: boolean): string {
  if (!NEEDS_PROTECTION.test(path)) return path;
  return path
    .split('/')
    .map((component) => protectComponent(component, dots))
    .join('/');
}

/** As many leading directories as fit, each cut short. */
function shortDirectories(directories: readonly string[]): string {
  let joined = '';
  for (const directory of directories) {
    let short = directory.slice(0, MAX_SHORT_DIRECTORY_BYTES);
    if (isDotOrSpace(short.at(-1))) short = `${short.slice(0, -1)}_`;
    const longer = joined === '' ? short : `${joined}/${short}`;
    if (longer.length > MAX_SHORT_DIRECTORIES_BYTES) break;
    joined = longer;
  }
  return joined === '' ? '' : `${joined}/`;
}

/** From the last dot on; dots that lead the name do not begin an extension. */
function extensionOf(basename: string): string {
  const dot = basename.lastIndexOf('.');
  for (let at = 0; at < dot; at++) {
    if (basename[at] !== '.') return basename.slice(dot);
  }
  return '';
}

/**
 * `dh/`, short directories, the beginning of the base name (its extension included), the SHA-1 of the directory-encoded
 * name in hex, the extension again. 120 bytes at most unless the extension alone is longer than fits.
 */
function hashStorePath(directoryEncoded: BytePath, dots: boolean): BytePath {
  const digest = createHash('sha1').update(directoryEncoded, 'latin1').digest('hex');
  const lowered = protectComponents(replaceBytes(directoryEncoded.slice(KIND_PREFIX_BYTES), LOWER_TABLE), dots);
  const components = lowered.split('/');
  const basename = components.pop() ?? '';
  const extension = extensionOf(basename);
  const directories = shortDirectories(components);
  const room = MAX_ENCODED_BYTES - HASHED_PREFIX.length - directories.length - digest.length - extension.length;
  return HASHED_PREFIX + directories + basename.slice(0, Math.max(room, 0)) + digest + extension;
}

/**
 * Where a file of the store lies on disk.
 * @param name the unencoded store name: `data/<path>.i`, `meta/<dir>/00manifest.d`, `00changelog.i`. NOT a line of the
 *   fncache: pass that through {@link decodeDirectories} first.
 * @param encoding how this repository names its files
 * @returns the path below the store, in bytes. No errors: every name has an encoding.
 */
export function encodeStorePath(name: BytePath, encoding: StoreEncoding): BytePath {
  const directoryEncoded = encodeDirectories(name);
  if (encoding === 'plain-dir') return directoryEncoded;
  const dots = encoding === 'dotencode';
  if (encoding !== 'store' && directoryEncoded.length > MAX_ENCODED_BYTES) return hashStorePath(directoryEncoded, dots);
  const escaped = replaceBytes(directoryEncoded, STORE_TABLE);
  if (encoding === 'store') return escaped;
  const encoded = protectComponents(escaped, dots);
  return encoded.length > MAX_ENCODED_BYTES ? hashStorePath(directoryEncoded, dots) : encoded;
}

const ESCAPE = /~[0-9a-f]{2}|_[a-z_]/g;

function unescape(escape: string): string {
  if (escape.startsWith('~')) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return escape === '__' ? '_' : escape.slice(1).toUpperCase();
}

/**
 * What Mercurial calls a file found on disk.
 * @param diskName the path below the store, in bytes
 * @param encoding how this repository names its files
 * @returns the unencoded store name; undefined where the path cannot be the encoding of any name, or is hashed
 *   (`dh/`: the name is not in it; look in the fncache)
 */
export function decodeStorePath(diskName: BytePath, encoding: StoreEncoding): BytePath | undefined {
  const hashes = encoding === 'fncache' || encoding === 'dotencode';
  if (hashes && diskName.startsWith(HASHED_PREFIX)) return undefined;
  const escaped = encoding === 'plain-dir' ? diskName : diskName.replace(ESCAPE, unescape);
  const name = decodeDirectories(escaped);
  return encodeStorePath(name, encoding) === diskName ? name : undefined;
}
