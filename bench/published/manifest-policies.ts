import type { KindPolicyInput } from '../../src/delta/policy-input.js';
import { collectStats } from '../../src/report/store-stats.js';
import type { Claim, Reproduction } from './reproduction.js';
import { grouped, megabytes } from './reproduction.js';
import type { Workspace } from './workspace.js';

type Family = 'none' | 'one' | 'both';

interface Cell {
  readonly family: Family;
  /** Longest chain allowed; null: no limit. */
  readonly limit: number | null;
  /** Megabytes of the manifest. */
  readonly published: number;
}

const CELLS: readonly Cell[] = [
  { family: 'none', limit: null, published: 473 },
  { family: 'one', limit: null, published: 336 },
  { family: 'one', limit: 10000, published: 355 },
  { family: 'both', limit: null, published: 129 },
  { family: 'both', limit: 15000, published: 158 },
  { family: 'both', limit: 10000, published: 190 },
  { family: 'both', limit: 5000, published: 245 },
  { family: 'both', limit: 2500, published: 393 },
];

const NAMES: Readonly<Record<Family, string>> = {
  none: 'without generaldelta',
  one: 'generaldelta, one parent tried',
  both: 'generaldelta, both parents tried',
};

const FAMILIES: Readonly<Record<Family, KindPolicyInput>> = {
  none: { generaldelta: false },
  one: { generaldelta: true, parents: 'one', previous: true },
  both: { generaldelta: true, parents: 'both', previous: true },
};

/** Published limits are divided by this for a history of smaller texts. */
const SCALE = 20;

/** No bounds on the bytes of a chain. */
const UNBOUNDED: KindPolicyInput = { maxChainRatio: null, maxSpanRatio: null };

interface Result {
  readonly bytes: number;
  readonly longest: number;
}

/** The grid under three readings of its limits. */
interface Row extends Cell {
  /** The limit as published, and no other. */
  readonly asPublished: Result;
  /** The limit divided, and no other. */
  readonly scaled: Result;
  /** The limit divided, and those of Mercurial 3.7 on the bytes of a chain. */
  readonly bounded: Result;
}

/** Table 2: how large is the manifest under which rules? */
export async function reproduceManifestPolicies(workspace: Workspace): Promise<Reproduction> {
  const rows: Row[] = [];
  for (const cell of CELLS) {
    const divided = cell.limit === null ? null : cell.limit / SCALE;
    const scaled = await measure(workspace, cell.family, divided, UNBOUNDED);
    rows.push({
      ...cell,
      asPublished: cell.limit === null ? scaled : await measure(workspace, cell.family, cell.limit, UNBOUNDED),
      scaled,
      bounded: await measure(workspace, cell.family, divided, {}),
    });
  }
  return {
    title: '2. Manifest size by policy',
    about:
      `Megabytes (${grouped(39588)} manifests, the data file, zlib) under the rules of Mercurial 3.7: one base is tried after the other, parents first, then the previous revision. ` +
      'In the published history the limits on the bytes of a chain (twice the text, four times from end to end) left room for chains of more than 15,000 deltas. Here a text has 80 kB, and they leave room for 1,600. ' +
      `So the grid is filled three times: with the published limits and no others; with limits divided by ${SCALE} and no others, since a full text costs as much as ${grouped(worth(rows, 'published'))} deltas there and ${grouped(worth(rows, 'scaled'))} here (by what limits of 2,500 and of ${2500 / SCALE} add to the size); and with those and the limits on bytes.`,
    grids: [
      {
        head: ['policy', 'limit', 'published', 'same limit, no other', `limit / ${SCALE}`, 'that limit, no other', 'that limit, and on bytes'],
        rows: rows.map(renderRow),
      },
    ],
    claims: claimsOf(rows),
  };
}

async function measure({ bare, convert, remove }: Workspace, family: Family, limit: number | null, bounds: KindPolicyInput): Promise<Result> {
  const manifest: KindPolicyInput = { preset: 'mercurial-3.7', sparse: false, ...FAMILIES[family], maxChainLength: limit, ...bounds };
  const { folder } = await convert(bare, { redelta: 'all', generaldelta: family !== 'none', policy: { manifest } });
  const { kinds } = await collectStats(folder, { only: 'manifest' });
  remove(folder);
  return { bytes: kinds.manifest.storedBytes, longest: kinds.manifest.chains.longest };
}

const limitText = (limit: number | null): string => (limit === null ? 'none' : grouped(limit));

const resultText = ({ bytes, longest }: Result): string => `${megabytes(bytes)} (longest ${grouped(longest)})`;

const renderRow = ({ family, limit, published, asPublished, scaled, bounded }: Row): string[] => [
  NAMES[family],
  limitText(limit),
  String(published),
  resultText(asPublished),
  limitText(limit === null ? null : limit / SCALE),
  resultText(scaled),
  resultText(bounded),
];

type Column = 'published' | 'asPublished' | 'scaled' | 'bounded';

const COLUMNS: readonly Column[] = ['asPublished', 'scaled', 'bounded'];

const sizeOf = (row: Row | undefined, column: Column): number => {
  const value = row?.[column] ?? NaN;
  return typeof value === 'number' ? value : value.bytes;
};

const find = (rows: readonly Row[], family: Family, limit: number | null): Row | undefined => rows.find((row) => row.family === family && row.limit === limit);

/** How many deltas a full text is worth: what a limit of so many deltas adds is a full text for each so many. */
function worth(rows: readonly Row[], column: 'published' | 'scaled'): number {
  const least = sizeOf(find(rows, 'both', null), column);
  const limited = sizeOf(find(rows, 'both', 2500), column);
  return (limited / least - 1) * (column === 'published' ? 2500 : 2500 / SCALE);
}

function claimsOf(rows: readonly Row[]): Claim[] {
  const size = (column: Column, family: Family, limit: number | null): number => sizeOf(find(rows, family, limit), column);
  const families = COLUMNS.filter((column) => size(column, 'none', null) > size(column, 'one', null) && size(column, 'one', null) > size(column, 'both', null));
  const limits = COLUMNS.filter((column) => {
    const both = rows.filter(({ family }) => family === 'both').map((row) => sizeOf(row, column));
    return size(column, 'one', 10000) >= size(column, 'one', null) && both.every((bytes, i) => i === 0 || bytes >= (both[i - 1] ?? 0));
  });
  const ordered = COLUMNS.filter((column) => {
    const own = [...rows].sort((a, b) => a.published - b.published).map((row) => sizeOf(row, column));
    return own.every((bytes, i) => i === 0 || bytes >= (own[i - 1] ?? 0));
  });
  const gain = (column: Column): string => (size(column, 'one', null) / size(column, 'both', null)).toFixed(1);
  return [
    {
      holds: families.length === COLUMNS.length,
      yes: 'without limits, generaldelta makes the manifest smaller, and trying both parents makes it smaller again, under all three readings',
      no: `only under ${families.length} of three readings does generaldelta make the manifest smaller and trying both parents smaller again`,
    },
    {
      holds: limits.length === COLUMNS.length,
      yes: 'every lower limit makes it larger',
      no: `only under ${limits.length} of three readings does every lower limit make it larger`,
    },
    {
      holds: ordered.length === COLUMNS.length,
      yes: 'all eight are in the published order',
      no:
        `all eight are in the published order under ${ordered.length === 0 ? 'none' : ordered.length} of the three readings, because what a limit costs depends on how many deltas a full text is worth (the published limits cost little here), and what the second parent saves depends on the history: ` +
        `without limits the manifest is ${gain('published')} times smaller there and ${gain('scaled')} times here, which a limit that costs as much as there outweighs`,
    },
  ];
}
