import { describePolicy } from '../delta/policy-name.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import { displayName, showable } from '../repository/byte-path.js';
import type { ConversionPlan, RepositoryFacts } from '../repository/plan.js';
import type { ConversionSummary } from '../repository/summary.js';
import { bytes, change, count, duration, plural, table } from './format.js';

/** The kinds, as tables call them. */
export const KIND_NAMES: Readonly<Record<RevlogKind, string>> = { changelog: 'changelog', manifest: 'manifests', filelog: 'filelogs' };

const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));

/** `zstd (level 3)`, or the level of each kind where they differ. */
function engine(name: string, levels: ConversionPlan['levels']): string {
  const different = new Set(REVLOG_KINDS.map((kind) => levels[kind]));
  if (different.size > 1) return `${name} (levels: ${REVLOG_KINDS.map((kind) => `${kind} ${levels[kind] ?? '-'}`).join(', ')})`;
  const [level] = different;
  return level === undefined ? name : `${name} (level ${level})`;
}

/** What becomes of the deltas of a kind: `deltas kept`, `redelta all (mercurial)`, `no deltas`. */
function deltas(kind: RevlogKind, { redelta, policy }: Pick<ConversionPlan, 'redelta' | 'policy'>): string {
  if (policy === undefined) return 'deltas kept';
  return policy[kind].deltas ? `redelta ${redelta} (${describePolicy(kind, policy[kind])})` : describePolicy(kind, policy[kind]);
}

/** What was compared with what. */
function checked({ checked: how, policy, dictionaries }: Pick<ConversionSummary, 'checked' | 'policy' | 'dictionaries'>): string {
  if (dictionaries.choice === 'add') return 'every chunk was decoded; all are as they were';
  if (how === 'none') return 'nothing (--check none)';
  const chunks = 'every chunk was decoded again and compared';
  return policy === undefined ? chunks : `every text with its node, every new delta with its text; ${chunks}`;
}

/** The dictionaries, and who does without. */
function dictionaries({ dictionaries: { choice, added, used, without, revlogsWithout, bytesBefore: before, bytes: size } }: ConversionSummary): string[] {
  if (choice === 'none') return before === 0 ? [] : ['dictionaries  those of the source are left behind (--dict keep keeps them)'];
  const chunks = used.reduce((sum, one) => sum + one.chunks, 0);
  const names = added.map((one) => `${one.names.join(' and ')} (ID ${one.id}, ${bytes(one.bytes)}${one.samples === undefined ? '' : `, of ${plural(one.samples, 'sample')}`})`);
  return [
    `dictionaries  ${added.length === 0 ? `no new ones; ${bytes(size)} in all` : names.join(', ')}; ${plural(chunks, 'chunk')} use one`,
    ...without.map(({ name, why }) => `              none for ${name}: ${why}`),
    ...(revlogsWithout === 0 ? [] : [`              ${plural(revlogsWithout, 'revlog')} gained nothing and did without`]),
  ];
}

/** What will be done about dictionaries, in a word. */
function describeChoice(choice: ConversionPlan['dictionaries']): string {
  if (typeof choice !== 'string') return 'from' in choice ? `those of ${showable(choice.from)}` : 'those of the files given';
  return DICTIONARY_WORDS[choice];
}

const DICTIONARY_WORDS = {
  none: 'none',
  keep: 'those of the source',
  auto: 'new ones, to be trained; a kind that gains less than its dictionary takes does without',
  refresh: 'new ones, to be trained, beside those of the source; chunks that would not get shorter stay as they are',
  add: 'new ones, to be trained, beside those of the source; all chunks stay as they are',
} as const;

/** At most this many names are listed one by one. */
const MANY = 10;

function items(title: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const rest = names.length - MANY;
  return [title, ...names.slice(0, MANY).map((name) => `  ${name}`), ...(rest > 0 ? [`  and ${count(rest)} more (--json lists them)`] : [])];
}

/** What was done, for a person. */
export function renderSummary(summary: ConversionSummary): string {
  const rows = REVLOG_KINDS.map((kind) => ({ name: KIND_NAMES[kind], ...summary.kinds[kind] }));
  const { bytesBefore, bytes: bytesAfter } = summary.dictionaries;
  const dictionaryRow = bytesBefore + bytesAfter === 0 ? [] : [['dictionaries', '', '', bytes(bytesBefore), bytes(bytesAfter), change(bytesBefore, bytesAfter)]];
  const total = { name: 'total', revlogs: rows.reduce((sum, row) => sum + row.revlogs, 0), ...summary };
  const cells = [...rows, total].map((row): string[] => [
    row.name,
    count(row.revlogs),
    count(row.revisions),
    bytes(row.bytesBefore),
    bytes(row.bytesAfter),
    change(row.bytesBefore, row.bytesAfter),
  ]);
  const seconds = summary.milliseconds / 1000;
  return [
    `${showable(`${summary.source} -> ${summary.destination}`)}: ${summary.from} -> ${engine(summary.to, summary.levels)}`,
    '',
    ...table([['', 'revlogs', 'revisions', 'before', 'after', 'change'], ...cells.slice(0, -1), ...dictionaryRow, ...cells.slice(-1)]),
    '',
    `time          ${duration(summary.milliseconds)}, ${plural(summary.jobs, 'thread')}, ${bytes(summary.bytesBefore / Math.max(seconds, 0.001))}/s`,
    `checked       ${checked(summary)}`,
    ...(summary.policy === undefined ? [] : [`deltas        ${REVLOG_KINDS.map((kind) => `${KIND_NAMES[kind]}: ${deltas(kind, summary)}`).join('; ')}`]),
    ...dictionaries(summary),
    `requirements  added: ${list(summary.requirements.added)}; removed: ${list(summary.requirements.removed)}`,
    `carried       ${plural(summary.carriedFiles, 'other file')}, ${bytes(summary.carriedBytes)}; files of the working copy are not copied`,
    ...items('no rule for these; carried as they are:', summary.unknownFiles),
    ...(summary.dropped.length === 0 ? [] : [`left behind   ${plural(summary.dropped.length, 'file')} that describe the old store (--json lists them)`]),
  ].join('\n');
}

/** What would be done, for a person. */
export function renderPlan(plan: ConversionPlan, facts: RepositoryFacts): string {
  const rows = REVLOG_KINDS.map((kind) => [
    KIND_NAMES[kind],
    count(plan.kinds[kind].revlogs),
    bytes(plan.kinds[kind].bytes),
    `${plan.levels[kind] === undefined ? plan.to : `${plan.to} level ${plan.levels[kind] ?? ''}`}, ${deltas(kind, plan)}`,
  ]);
  const byAction = (action: string): string[] => facts.files.filter((file) => file.action === action).map(({ name, why }) => `${displayName(name)}: ${why}`);
  return [
    `${showable(plan.source)}: ${plan.from} -> ${engine(plan.to, plan.levels)} (a plan; nothing was written)`,
    '',
    ...table([['', 'revlogs', 'bytes', 'will be'], ...rows]),
    '',
    `requirements  added:   ${list(plan.requirements.added)}`,
    `              removed: ${list(plan.requirements.removed)}`,
    `              kept:    ${list(plan.requirements.kept)}`,
    ...(plan.dictionaries === 'none' ? [] : [`dictionaries  ${describeChoice(plan.dictionaries)}`]),
    ...(plan.newLayout ? ["layout        today's: store, fncache, dotencode, share-safe"] : []),
    ...(plan.addsGeneraldelta && plan.policy === undefined ? ['deltas        the same deltas, in revlogs with generaldelta'] : []),
    ...items('carried as they are:', byAction('carry')),
    ...items('no rule for these; carried as they are:', byAction('unknown')),
    ...items('left behind:', byAction('drop')),
    ...items('listed in the store and missing:', facts.discovery.missing.map(displayName)),
    ...items('in the store and not listed:', [
      ...facts.discovery.revlogs.filter(({ listed }) => !listed).map(({ name }) => displayName(name)),
      ...facts.discovery.strays.map(displayName),
    ]),
  ].join('\n');
}
