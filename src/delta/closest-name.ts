/**
 * The name that somebody meant who wrote another: one that differs by a few letters, by case or dashes, or that begins
 * the same way (`sparse-revlog`: `sparse`).
 * @returns undefined where none is near
 */
export function closestName(written: string, names: readonly string[]): string | undefined {
  const wanted = plain(written.slice(0, MAX_LENGTH));
  if (wanted === '') return undefined;
  const near = names.map((name) => ({ name, distance: distanceOf(wanted, plain(name)) })).sort((a, b) => a.distance - b.distance);
  const [best] = near;
  return best !== undefined && best.distance <= Math.max(1, Math.floor(wanted.length / 4)) ? best.name : undefined;
}

/** Longer ones are no misspelling of anything; the time that a comparison takes grows with the length. */
const MAX_LENGTH = 64;

/** A beginning of at least this many letters says what was meant. */
const MIN_BEGINNING = 5;

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

function distanceOf(a: string, b: string): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= MIN_BEGINNING && long.startsWith(short) ? Math.min(1, long.length - short.length) : editDistance(a, b);
}

/** Letters to be put in, left out or replaced to make one of the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
