/**
 * `index.json` of a store with dictionaries (`.hg/store/revlog-dictionaries`), in UTF-8:
 *
 *     {
 *       "version": 1,
 *       "dictionaries": [{ "id": 1, "kind": "changelog", "bytes": 112640, "sha256": "<64 digits>" }, ...],
 *       "write": { "changelog": 1, "manifest": 2, "filelog": 3, "suffixes": { ".c": 4, ".txt": 0 } }
 *     }
 *
 * `dictionaries` lists the files `<id>.zdict` beside it, and what each is for: a kind of revlog, or `any`. `write` says by which of them new chunks are compressed: by the
 * kind of revlog, for filelogs first by the suffix of the file's name; 0, or no word of it: without one. Keys that are
 * not known are for later versions to use, and ignored.
 */
import { RevconvertError } from '../errors.js';
import { asBuffer } from './bytes.js';
import type { RevlogKind } from './record.js';
import { REVLOG_KINDS } from './record.js';
import { MAX_DICTIONARY_ID, MIN_DICTIONARY_ID } from './zstd-dictionary.js';

/** What a dictionary is for; `any`: one for all kinds. */
export type DictionaryKind = RevlogKind | 'any';

const DICTIONARY_KINDS: readonly DictionaryKind[] = [...REVLOG_KINDS, 'any'];

/** What the index says of a dictionary. */
export interface DictionaryEntry {
  readonly id: number;
  readonly kind: DictionaryKind;
  readonly bytes: number;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
}

/** Dictionaries by what new chunks are of; 0: none. */
export interface WriteRules {
  readonly changelog: number;
  readonly manifest: number;
  readonly filelog: number;
  /** By the suffix of a file's name, over `filelog`. */
  readonly suffixes: ReadonlyMap<string, number>;
}

export interface DictionaryIndex {
  /** By rising ID. */
  readonly dictionaries: readonly DictionaryEntry[];
  readonly write: WriteRules;
}

const VERSION = 1;
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Reads an index, and checks that it agrees with itself.
 * @throws RevconvertError DICTIONARY_INDEX
 */
export function parseDictionaryIndex(bytes: Uint8Array): DictionaryIndex {
  const found = parseJson(bytes);
  if (found['version'] !== VERSION) throw fault(`version ${VERSION} is expected, found ${say(found['version'])}`);
  const { dictionaries, write = {} } = found;
  if (!Array.isArray(dictionaries)) throw fault('a list of dictionaries is expected');
  const entries = dictionaries.map(parseEntry).sort((a, b) => a.id - b.id);
  const twice = entries.find(({ id }, i) => entries[i - 1]?.id === id);
  if (twice !== undefined) throw fault(`dictionary ${twice.id} is listed twice`);
  if (!isObject(write)) throw fault(`write: an object is expected, found ${say(write)}`);
  return { dictionaries: entries, write: parseRules(write, entries) };
}

/** Writes an index. The same index gives the same bytes. */
export function serialiseDictionaryIndex({ dictionaries, write }: DictionaryIndex): Buffer {
  const { suffixes, ...kinds } = write;
  const sorted = [...suffixes].sort(([a], [b]) => (a < b ? -1 : 1));
  const rules = { ...Object.fromEntries(REVLOG_KINDS.map((kind) => [kind, kinds[kind]])), ...(sorted.length === 0 ? {} : { suffixes: Object.fromEntries(sorted) }) };
  const entries = dictionaries.map(({ id, kind, bytes, sha256 }) => ({ id, kind, bytes, sha256 }));
  return Buffer.from(`${JSON.stringify({ version: VERSION, dictionaries: entries, write: rules }, null, 1)}\n`);
}

/** The dictionary for new chunks of a revlog; 0: none. @param path the tracked file, for filelogs */
export function ruleFor({ suffixes, ...kinds }: WriteRules, kind: RevlogKind, path: string): number {
  const suffix = kind === 'filelog' ? suffixOf(path) : undefined;
  return (suffix === undefined ? undefined : suffixes.get(suffix)) ?? kinds[kind];
}

const ASCII = /^[^\u0080-\uffff]*$/;

/**
 * The part of a file's base name from its last dot on; undefined where there is none, where the dot is its first
 * character, and where it is not ASCII: what the extension for Mercurial takes it for, to the byte.
 */
export function suffixOf(path: string): string | undefined {
  const base = path.slice(path.lastIndexOf('/') + 1);
  const dot = base.lastIndexOf('.');
  const suffix = dot <= 0 ? undefined : base.slice(dot);
  return suffix !== undefined && ASCII.test(suffix) ? suffix : undefined;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function say(value: unknown): string {
  if (value === undefined) return 'nothing';
  try {
    return JSON.stringify(value).slice(0, 80);
  } catch {
    // It is parsed without recursion, and written with it.
    return 'something nested too deeply';
  }
}

const fault = (message: string, options?: ErrorOptions): RevconvertError => new RevconvertError('DICTIONARY_INDEX', message, {}, options);

function parseJson(bytes: Uint8Array): Json {
  let found: unknown;
  try {
    found = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(asBuffer(bytes)));
  } catch (error) {
    throw fault(`not JSON in UTF-8: ${(error as Error).message}`, { cause: error });
  }
  if (!isObject(found)) throw fault(`an object is expected, found ${say(found)}`);
  return found;
}

const isId = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= MIN_DICTIONARY_ID && Number(value) <= MAX_DICTIONARY_ID;

function parseEntry(value: unknown): DictionaryEntry {
  const { id, kind, bytes, sha256 } = isObject(value) ? value : {};
  if (!isId(id)) throw fault(`a dictionary ID must be a whole number from ${MIN_DICTIONARY_ID} to ${MAX_DICTIONARY_ID}, found ${say(id)}`);
  const known = DICTIONARY_KINDS.find((name) => name === kind);
  if (known === undefined) throw fault(`dictionary ${id}: kind must be one of ${DICTIONARY_KINDS.join(', ')}, found ${say(kind)}`);
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0) throw fault(`dictionary ${id}: bytes must be a whole number, found ${say(bytes)}`);
  if (typeof sha256 !== 'string' || !SHA256.test(sha256)) throw fault(`dictionary ${id}: sha256 must be 64 hexadecimal digits, found ${say(sha256)}`);
  return { id, kind: known, bytes, sha256 };
}

function parseRules(write: Json, entries: readonly DictionaryEntry[]): WriteRules {
  const listed = new Set([0, ...entries.map(({ id }) => id)]);
  const parse = (key: string, value: unknown): number => {
    if (value === undefined) return 0;
    if (typeof value === 'number' && listed.has(value)) return value;
    throw fault(`write: ${key}: the ID of a dictionary that is listed is expected, or 0, found ${say(value)}`);
  };
  const { suffixes = {} } = write;
  if (!isObject(suffixes)) throw fault(`write: suffixes: an object is expected, found ${say(suffixes)}`);
  return {
    changelog: parse('changelog', write['changelog']),
    manifest: parse('manifest', write['manifest']),
    filelog: parse('filelog', write['filelog']),
    suffixes: new Map(Object.entries(suffixes).map(([suffix, id]) => [suffix, parse(`suffixes: ${suffix}`, id)])),
  };
}
