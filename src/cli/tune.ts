import { setFlagsFromString } from 'node:v8';

/**
 * Most of a conversion's time is spent in native code, and a run is over in seconds. V8 11 (Node 20) then spends a sixth
 * of the processor's time on optimizing JavaScript that hardly matters; told to wait longer before it does, a run takes
 * an eighth less of it (bench/RESULTS.md). Later versions have a compiler in between, and no such flag.
 */
export function tuneCompiler(): void {
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=1000000');
}
