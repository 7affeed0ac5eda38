import type { DictionaryInspection } from '../report/dictionary-inspection.js';
import type { DictionaryReport, ListedDictionary } from '../report/dictionary-usage.js';
import { showable } from '../repository/byte-path.js';
import type { ExportReport } from '../repository/dictionaries/export.js';
import type { TrainReport } from '../repository/dictionaries/train-folder.js';
import { bytes, count, table } from './format.js';

const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.map(showable).join(', '));

/** The dictionaries of a store, and who uses them, for a person. */
export function renderDictionaries({ repository, dictionaries, without, unlisted, writesWithout }: DictionaryReport): string {
  const head = [showable(repository), ''];
  const hasUnlisted = unlisted.length > 0;
  if (dictionaries.length === 0 && !hasUnlisted) return [...head, 'no dictionaries'].join('\n');
  return [
    ...head,
    ...table([
      ['ID', 'kind', 'new chunks', 'size', 'used by', 'bytes', ...(dictionaries.some(({ error }) => error !== undefined) ? ['state'] : [])],
      ...dictionaries.map(dictionaryRow),
      ...unlisted.map((one) => [String(one.id), '', '', 'not listed', count(one.chunks), bytes(one.bytes)]),
      ['none', '', list(writesWithout), '', count(without.chunks), bytes(without.bytes)],
    ]),
  ].join('\n');
}

const dictionaryRow = ({ id, kind, writes, bytes: size, used, error }: ListedDictionary): string[] => [
  String(id),
  kind,
  list(writes),
  bytes(size),
  count(used.chunks),
  bytes(used.bytes),
  ...(error === undefined ? [] : [error.code]),
];

/** Dictionaries that were trained, for a person. */
export function renderTrained({ repository, folder, trained, without, option }: TrainReport): string {
  const reasons = without.map(({ name, why }) => `none for ${showable(name)}: ${why}`);
  if (trained.length === 0) return [showable(repository), '', 'no dictionary is worth its bytes; nothing was written', ...reasons].join('\n');
  return [
    showable(`${repository} -> ${folder}`),
    '',
    ...table([
      ['', 'bytes', 'samples', 'estimated gain'],
      ...trained.map(({ name, bytes: size, samples, gain }) => [showable(name), bytes(size), count(samples), bytes(gain)]),
      ['total', bytes(sum(trained.map((one) => one.bytes))), count(sum(trained.map(({ samples }) => samples))), bytes(sum(trained.map(({ gain }) => gain)))],
    ]),
    '',
    ...reasons,
    option === undefined ? 'to use them: give --dict files without a comma in their names' : `to use them: --dict ${quoted(option)}`,
  ].join('\n');
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** As a shell takes it. */
const quoted = (text: string): string => (/^[\w./=,+:@%-]+$/.test(text) ? text : `'${showable(text).replaceAll("'", "'\\''")}'`);

/** Dictionaries that were written, for a person. */
export const renderExported = ({ repository, folder, dictionaries }: ExportReport): string =>
  `${showable(`${repository} -> ${folder}`)}: ${count(dictionaries.length)} ${dictionaries.length === 1 ? 'dictionary' : 'dictionaries'}, ${bytes(sum(dictionaries.map((one) => one.bytes)))}`;

/** One dictionary, for a person. */
export const renderInspection = ({ file, id, bytes: size, sha256, contentOffset, end }: DictionaryInspection): string =>
  [
    `${showable(file)}: zstd takes it`,
    '',
    `ID        ${id}`,
    `bytes     ${count(size)}`,
    `SHA-256   ${sha256}`,
    `content   ${contentOffset === undefined ? 'its tables are not understood' : `${count(size - contentOffset)} bytes, from byte ${contentOffset} on`}`,
    'its end:',
    ...end.replace(/\n$/, '').split('\n').map((line) => `  ${line.split('\t').map(showable).join('\t')}`.trimEnd()),
  ].join('\n');
