import type { ObsMarker } from '../formats/bundle/payloads/obsmarkers.js';

/** Mercurial sorts markers before it prints them. */
export const compareMarkers = (one: ObsMarker, other: ObsMarker): number =>
  compare(one.predecessor, other.predecessor) ||
  compareLists(one.successors, other.successors) ||
  one.flags - other.flags ||
  compareLists(pairsOf(one), pairsOf(other)) ||
  one.seconds - other.seconds ||
  one.zone - other.zone ||
  compareLists(one.parents ?? [], other.parents ?? []);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const pairsOf = ({ metadata }: ObsMarker): string[] => metadata.flatMap(({ name, value }) => [name, value]);

function compareLists(one: readonly string[], other: readonly string[]): number {
  for (let i = 0; i < Math.min(one.length, other.length); i++) {
    const found = compare(one[i] ?? '', other[i] ?? '');
    if (found !== 0) return found;
  }
  return one.length - other.length;
}

/**
 * A marker as `hg debugbundle` and `hg debugobsolete` print it.
 * @param version of the markers: of version 1 it is not printed that there are no parents
 */
export function renderMarker({ predecessor, successors, flags, parents, seconds, zone, metadata }: ObsMarker, version: number): string {
  const fields = [predecessor, ...successors, flags.toString(16).toUpperCase()];
  if (parents !== undefined && (parents.length > 0 || version === 0)) fields.push(`{${parents.join(', ')}}`);
  const known = new Map(metadata.map(({ name, value }) => [name, value]));
  const pairs = [...known].sort(([one], [other]) => compare(one, other)).map(([name, value]) => `${renderBytes(name)}: ${renderBytes(value)}`);
  return [...fields, `(${renderDate(seconds, zone)})`, `{${pairs.join(', ')}}`].join(' ');
}

/** Python's way to write bytes, but for the `b`. */
function renderBytes(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[^ -~]|['\\]/g, (char) => {
    if (char === "'") return quote === "'" ? "\\'" : "'";
    return ESCAPES[char] ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `${quote}${escaped}${quote}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Times that Mercurial prints: others are printed as the first or last of them. */
const MIN_SECONDS = -0x80000000;
const MAX_SECONDS = 0x7fffffff;

/** Times are exact to the microsecond there; what is less than a second is cut off. */
const MICROS = 1e6;

/** @param zone in seconds west of Greenwich */
function renderDate(seconds: number, zone: number): string {
  const micros = Math.round((seconds - zone) * MICROS);
  const local = Math.min(MAX_SECONDS, Math.max(MIN_SECONDS, Math.floor(micros / MICROS)));
  const date = new Date(local * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = Math.floor(Math.abs(zone) / 60);
  const offset = `${zone > 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`;
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  return `${DAYS[date.getUTCDay()] ?? ''} ${MONTHS[date.getUTCMonth()] ?? ''} ${two(date.getUTCDate())} ${time} ${date.getUTCFullYear()} ${offset}`;
}
