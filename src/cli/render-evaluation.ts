import type { DictionaryEvaluation, EvaluationReport, KindEvaluation, LevelFigures } from '../report/dictionary-evaluation.js';
import { showable } from '../repository/byte-path.js';
import { bytes, change, count, table } from './format.js';
import { KIND_NAMES } from './render.js';

/** What dictionaries would do, for a person: a table for each kind. */
export function renderEvaluation({ repository, kinds }: EvaluationReport): string {
  const tables = kinds.flatMap((one) => ['', ...renderKind(one)]);
  return [showable(repository), ...(kinds.length === 0 ? ['', 'nothing to measure'] : tables)].join('\n');
}

const HEADINGS = ['dictionary', 'level', 'bytes', 'with its own', 'change', 'in MB/s', 'out MB/s', 'pays from'];

function renderKind({ kind, chunks, chunkBytes, judged, judgedBytes, plain, dictionaries }: KindEvaluation): string[] {
  const title = `${KIND_NAMES[kind]}: ${count(chunks)} chunks, ${bytes(chunkBytes)}; ${count(judged)} of them measured, ${bytes(judgedBytes)} decompressed`;
  if (plain.length === 0) return [`${KIND_NAMES[kind]}: no chunks to measure`];
  const rows = [
    ...plain.map((own) => ['none', String(own.level), bytes(own.bytes), bytes(own.bytes), '', ...rates(own), '']),
    ...dictionaries.flatMap((one) => dictionaryRows(one, plain)),
  ];
  const notes = dictionaries.flatMap((one) => (one.why === undefined ? [] : [`${nameOf(one)}: none, ${one.why}`]));
  return [title, ...table([HEADINGS, ...rows]), ...notes];
}

const dictionaryRows = (one: DictionaryEvaluation, plain: readonly LevelFigures[]): string[][] =>
  one.levels.map((own, i) => [
    nameOf(one),
    String(own.level),
    bytes(own.bytes),
    bytes(own.bytesInAll),
    change(plain[i]?.bytes ?? 0, own.bytesInAll),
    ...rates(own),
    own.breakEvenChunks === undefined ? 'never' : `${count(own.breakEvenChunks)} chunks`,
  ]);

const nameOf = ({ size }: DictionaryEvaluation): string => (size % 1024 === 0 ? `${count(size / 1024)} KiB` : `${count(size)} bytes`);

const rates = ({ compressRate, decompressRate }: LevelFigures): string[] => [compressRate, decompressRate].map(megabytes);

/** Three digits, or all before the point. */
const megabytes = (rate: number): string => {
  const value = rate / 1e6;
  return value >= 100 ? count(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
};
