/** Finding and running the real Mercurial, the oracle of the interop tests. */
import { execFileSync, spawnSync } from 'node:child_process';

import type { Context } from 'mocha';

/** A Mercurial that runs. */
export interface Mercurial {
  /** What to execute. */
  readonly hg: string;
  /** As it says itself: `6.3.2`. */
  readonly version: string;
}

const cleanEnvironment = (extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  HGRCPATH: '',
  HGPLAIN: '1',
  LC_ALL: 'C.UTF-8',
  ...extra,
});

function probe(hg: string): Mercurial | undefined {
  const { status, stdout } = spawnSync(hg, ['version', '-T', '{ver}'], { env: cleanEnvironment(), encoding: 'utf8' });
  return status === 0 ? { hg, version: stdout.trim() } : undefined;
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

export interface RunHgOptions {
  /** What to execute. @default that of {@link findMercurial} */
  readonly hg?: string;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  /** Added to the clean environment. */
  readonly env?: Readonly<Record<string, string>>;
}

const MAX_OUTPUT_BYTES = 256 << 20;

/**
 * Runs Mercurial without any configuration of this machine, in UTF-8, with unlocalised output.
 * @returns its standard output, in bytes; throws with its standard error where it exits with another status than 0
 */
export function runHg(args: readonly string[], options: RunHgOptions = {}): Buffer {
  const { hg = findMercurial()?.hg ?? 'hg', cwd, input, env } = options;
  return execFileSync(hg, args, { cwd, input, env: cleanEnvironment(env), stdio: 'pipe', maxBuffer: MAX_OUTPUT_BYTES });
}
