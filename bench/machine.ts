import { cpus, loadavg } from 'node:os';

import { listAvailableEngines } from '../src/engines/registry.js';

/** What figures depend on: processor, Node, the backends of zlib and zstd. */
export async function describeMachine(): Promise<string[]> {
  const backends = (await listAvailableEngines()).filter(({ name }) => name === 'zlib' || name === 'zstd').map(({ name, backend }) => `${name} by ${backend}`);
  return [`${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`, `Node ${process.version}`, backends.join(', ')];
}

/** Processes that were running or waiting, on average over the last minute. */
export const loadNow = (): string => (loadavg()[0] ?? NaN).toFixed(1);
