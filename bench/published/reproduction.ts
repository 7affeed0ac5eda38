/** A table of text. */
export interface Grid {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A part of a published conclusion, and whether it was found again. */
export interface Claim {
  readonly holds: boolean;
  /** What is said where it holds. */
  readonly yes: string;
  /** What is said where it does not, with the reason. */
  readonly no: string;
}

/** One published result, and ours next to it. */
export interface Reproduction {
  readonly title: string;
  /** What was measured, how, and how that differs from what was published. */
  readonly about: string;
  readonly grids: readonly Grid[];
  /** None where too little was measured. */
  readonly claims: readonly Claim[];
}

export function renderReproduction({ title, about, grids, claims }: Reproduction): string {
  return [`### ${title}`, about, ...grids.map(renderGrid), renderVerdict(claims)].join('\n\n');
}

const renderRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** As Markdown. */
export const renderGrid = ({ head, rows }: Grid): string => [head, head.map(() => '---'), ...rows].map(renderRow).join('\n');

/** One sentence. */
export function renderVerdict(claims: readonly Claim[]): string {
  const kept = claims.filter(({ holds }) => holds).map(({ yes }) => yes);
  const lost = claims.filter(({ holds }) => !holds).map(({ no }) => no);
  if (claims.length === 0) return '**No conclusion:** too little was measured.';
  if (lost.length === 0) return `**The conclusion holds:** ${kept.join('; ')}.`;
  if (kept.length === 0) return `**The conclusion does not hold:** ${lost.join('; ')}.`;
  return `**The conclusion holds in part:** ${kept.join('; ')}; but ${lost.join('; and ')}.`;
}

/** 12,345,678 */
export const grouped = (value: number): string => Math.round(value).toString().replace(/\B(?=(?:\d{3})+$)/g, ',');

/** Megabytes of a million bytes. */
export const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(2);

export const percent = (share: number): string => `${(share * 100).toFixed(1).replace(/^-0\.0$/, '0.0')} %`;

/** Times that are not farther apart than this cannot be told apart here. */
const NOISE = 0.1;

/** Whether one time is longer than another by more than chance. */
export const isLonger = (time: number, other: number): boolean => time > other * (1 + NOISE);
