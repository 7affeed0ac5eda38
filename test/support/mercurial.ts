/** Finding and running the real Mercurial, the oracle of the interop tests. */
import type { Context } from 'mocha';

import { callHg } from './hg-session.js';

/** A Mercurial that runs. */
export interface Mercurial {
  /** What to execute. */
  readonly hg: string;
  /** As it says itself: `6.3.2`. */
  readonly version: string;
}

function probe(hg: string): Mercurial | undefined {
  try {
    const { status, output } = callHg(hg, ['version', '-T', '{ver}']);
    return status === 0 ? { hg, version: output.trim() } : undefined;
  } catch {
    return undefined;
  }
}

const found = new Map<string, Mercurial | undefined>();

function probeOnce(hg: string): Mercurial | undefined {
  if (!found.has(hg)) found.set(hg, probe(hg));
  return found.get(hg);
}

/** The Mercurial to test against: environment variable HG, else `hg` on the PATH. Undefined where it does not run. */
export const findMercurial = (): Mercurial | undefined => probeOnce(process.env['HG'] ?? 'hg');

/** A second, newer Mercurial from the environment variable HG_NEWEST. Undefined where not set; throws where it does not run. */
export function newestHg(): Mercurial | undefined {
  const hg = process.env['HG_NEWEST'];
  if (hg === undefined || hg === '') return undefined;
  const newest = probeOnce(hg);
  if (newest === undefined) throw new Error(`HG_NEWEST does not run: ${hg}`);
  return newest;
}

/**
 * For the body of a test or hook: skips it where there is no Mercurial, and says so; fails instead where CI is `true`.
 * @param context `this` of the test
 */
export function requireMercurial(context: Context): Mercurial {
  const mercurial = findMercurial();
  if (mercurial !== undefined) return mercurial;
  if (process.env['CI'] === 'true') throw new Error('no Mercurial: install it or set HG');
  process.stderr.write('      skipped: no Mercurial; install it or set HG\n');
  return context.skip();
}

/** Every Mercurial at hand: that of {@link requireMercurial}, and {@link newestHg} where there is one. */
export function requireMercurials(context: Context): Mercurial[] {
  const newest = newestHg();
  return newest === undefined ? [requireMercurial(context)] : [requireMercurial(context), newest];
}
