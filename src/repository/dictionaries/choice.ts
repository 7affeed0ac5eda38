import { RevconvertError } from '../../errors.js';
import { suffixOf } from '../../formats/dictionary-index.js';
import { REVLOG_KINDS } from '../../formats/record.js';
import { MAX_DICTIONARY_BYTES } from '../../formats/zstd-dictionary.js';
import { checkWhole } from '../check-whole.js';

/** Files of dictionaries, by what they are for: `all`, a kind of revlog, or for filelogs a suffix like `.py`. */
export interface DictionaryFiles {
  readonly files: Readonly<Record<string, string>>;
}

/** The dictionaries of another repository, by its folder. */
export interface DictionariesFrom {
  readonly from: string;
}

const WORDS = ['none', 'keep', 'auto', 'refresh', 'add'] as const;

/**
 * Which dictionaries the chunks of the new store are compressed with.
 * `none`: none. `keep`: those of the source. `auto`: new ones, trained on its chunks. `refresh`: new ones beside the
 * source's, for the chunks that gain; the others stay as they are. `add`: new ones beside the source's, for chunks to
 * come; all chunks stay as they are.
 */
export type DictionaryChoice = (typeof WORDS)[number] | DictionaryFiles | DictionariesFrom;

export interface DictionaryOptions {
  /** @default those of the source where `to` is not given, none otherwise */
  readonly dictionaries?: DictionaryChoice | undefined;
  /** Bytes of each new dictionary, 256 to 16 MiB. @default about a twentieth of what it is for, at most 1 MiB */
  readonly dictionarySize?: number | undefined;
  /** The most chunks that each is trained on, 16 to 100,000. @default as many as make twelve times its size, at most 4,096; with `redelta` eight times as many */
  readonly dictionarySamples?: number | undefined;
}

/** Filled in and checked. */
export interface FilledDictionaryOptions {
  /** Undefined: what the source has, if the engine is not changed. */
  readonly choice: DictionaryChoice | undefined;
  readonly size: number | undefined;
  readonly samples: number | undefined;
}

export const MIN_TRAINED_BYTES = 256;
const MIN_SAMPLES = 16;
const MAX_SAMPLES = 100_000;

/** @throws RevconvertError USAGE */
export function fillDictionaryOptions({ dictionaries: choice, dictionarySize: size, dictionarySamples: samples }: DictionaryOptions): FilledDictionaryOptions {
  checkWhole('dict-size', size, MIN_TRAINED_BYTES, MAX_DICTIONARY_BYTES);
  checkWhole('dict-samples', samples, MIN_SAMPLES, MAX_SAMPLES);
  if (choice !== undefined) checkChoice(choice);
  if (!isTrained(choice) && (size !== undefined || samples !== undefined)) {
    throw new RevconvertError('USAGE', 'dict-size and dict-samples have no effect without --dict auto, refresh or add: nothing is trained');
  }
  return { choice, size, samples };
}

function checkChoice(choice: DictionaryChoice): void {
  if (typeof choice === 'string') {
    if (WORDS.includes(choice)) return;
    throw new RevconvertError('USAGE', `dictionaries must be one of ${WORDS.join(', ')}, files, or those of another repository, found '${choice as string}'`);
  }
  const { files, from } = (choice as Partial<DictionaryFiles & DictionariesFrom> | null) ?? {};
  if (from === '') throw new RevconvertError('USAGE', 'dictionaries: the folder of the other repository is missing');
  if (typeof from === 'string' && files === undefined) return;
  const keys = Object.keys(files ?? {});
  if (from !== undefined || keys.length === 0 || Object.values(files ?? {}).some((path) => typeof path !== 'string')) {
    throw new RevconvertError('USAGE', `dictionaries: no dictionary file is given, found ${JSON.stringify(choice)}`);
  }
  const bad = keys.find((key) => !isTargetName(key));
  if (bad !== undefined) throw new RevconvertError('USAGE', `a dictionary is for ${TARGET_NAMES}, found '${bad}'`);
}

const TARGET_NAMES = `all, ${REVLOG_KINDS.join(', ')}, or a suffix of files like .py`;

const isTargetName = (name: string): boolean => name === 'all' || REVLOG_KINDS.some((kind) => kind === name) || isSuffix(name);

/** What files can have: it begins with its only dot. */
const isSuffix = (name: string): boolean => /^\.[!-~]+$/.test(name) && suffixOf(`x${name}`) === name;

/** Whether new dictionaries are trained. */
export const isTrained = (choice: DictionaryChoice | undefined): boolean => choice === 'auto' || choice === 'refresh' || choice === 'add';

/**
 * Reads a choice as it is written on a command line: a word, `from:REPO`, `FILE`, or `KIND=FILE[,KIND=FILE...]`.
 * A file that is called like a word, or has an equals sign in its name, is given with its folder (`./auto`).
 * @throws RevconvertError USAGE
 */
export function parseDictionaryChoice(text: string): DictionaryChoice {
  const word = WORDS.find((one) => one === text);
  if (word !== undefined) return word;
  if (text === '') throw new RevconvertError('USAGE', `--dict: ${WORDS.join(', ')}, from:REPO or a file is expected`);
  if (text.startsWith('from:')) return { from: text.slice('from:'.length) };
  const parts = text.split(',').map((part) => /^(?!\.\.?\/)([a-z]+|\.[!-+\--~]+?)=(.+)$/s.exec(part));
  const bad = parts.find((part) => part?.[1] !== undefined && !isTargetName(part[1]))?.[1];
  if (bad !== undefined) throw new RevconvertError('USAGE', `--dict: a dictionary is for ${TARGET_NAMES}, found '${bad}'`);
  if (parts.every((part) => part === null)) return { files: { all: text } };
  if (parts.includes(null)) throw new RevconvertError('USAGE', `--dict: all is KIND=FILE,KIND=FILE or nothing is, found '${text}'`);
  const files = new Map<string, string>();
  for (const part of parts) {
    const [, name = '', file = ''] = part ?? [];
    if (files.has(name)) throw new RevconvertError('USAGE', `--dict: ${name} is given twice`);
    files.set(name, file);
  }
  return { files: Object.fromEntries(files) };
}

/**
 * Files of dictionaries as they are written on a command line, without any quoting for a shell.
 * @returns undefined where there are none, and where they cannot be written: a comma parts two files, an equals sign ends a suffix
 */
export function formatDictionaryFiles(files: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(files);
  if (entries.length === 0 || entries.some(([name, file]) => /[,=]/.test(name) || file.includes(','))) return undefined;
  return entries.map(([name, file]) => `${name}=${file}`).join(',');
}
