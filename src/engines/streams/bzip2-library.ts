/** libbzip2 (1.0.8) in WebAssembly: @foxglove/wasm-bz2. It decompresses a whole stream at once; `bunzip2.ts` gives it blocks. */

import { messageOf } from '../faults.js';

/** The part of the package that is used. */
interface Bzip2Module {
  /** @throws an Error whose message holds libbzip2's code where the stream is not sound, or does not fit `mostBytes` */
  decompress(stream: Uint8Array, mostBytes: number): Uint8Array;
}

export interface Bzip2Package {
  init(): Promise<Bzip2Module>;
}

/** What libbzip2 says of a stream (bzlib.h). */
export type Bzip2Fault = 'truncated' | 'too-large' | 'damaged';

/** Decompresses small streams. It has memory of its own, which goes when it does. */
export interface Bzip2Decoder {
  /**
   * @param stream a complete one, or the start of one
   * @param mostBytes the room for what it decompresses to
   * @returns what it decompresses to, in memory of its own; or what is wrong
   */
  decode(stream: Uint8Array, mostBytes: number): Uint8Array | Bzip2Fault;
}

const CODES: Readonly<Record<string, Bzip2Fault>> = { '-7': 'truncated', '-8': 'too-large' };

const faultOf = (error: unknown): Bzip2Fault => CODES[/-\d+/.exec(messageOf(error))?.[0] ?? ''] ?? 'damaged';

/** `bzip2` of the byte 'a'. */
const PROBE = Buffer.from('425a683931415926535919939b6b00000001002000200021184682ee48a70a120332736d60', 'hex');

/** @returns whether it does here what it is relied on for */
function behaves(decoder: Bzip2Decoder): boolean {
  const decode = (stream: Uint8Array, mostBytes: number): Uint8Array | Bzip2Fault => decoder.decode(stream, mostBytes);
  const whole = decode(PROBE, 16);
  const damaged = PROBE.map((byte, i) => (i === PROBE.length - 2 ? byte ^ 0xff : byte));
  return whole instanceof Uint8Array && whole.length === 1 && whole[0] === 0x61 && decode(PROBE.subarray(0, -2), 16) === 'truncated' && decode(PROBE, 0) === 'too-large' && decode(damaged, 16) === 'damaged';
}

/** What its start-up code adds to the process: it would let every error that nobody catches end the process in another way. */
const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

/** @returns what `begin` returns; listeners of the process that it adds are gone */
function withoutListeners<T>(begin: () => T): T {
  const before = EVENTS.map((event) => process.rawListeners(event));
  const result = begin();
  EVENTS.forEach((event, i) => {
    for (const listener of process.rawListeners(event)) {
      if (before[i]?.includes(listener) !== true) process.removeListener(event, listener as (...args: unknown[]) => void);
    }
  });
  return result;
}

/**
 * @param importPackage gives the package; tests give another
 * @returns undefined where the package is not installed, or does not work here
 */
export async function loadBzip2(importPackage: () => Promise<Bzip2Package> = async () => (await import('@foxglove/wasm-bz2')).default): Promise<Bzip2Decoder | undefined> {
  try {
    const found = await importPackage();
    const module = await withoutListeners(() => found.init());
    const decoder: Bzip2Decoder = {
      decode(stream, mostBytes) {
        try {
          return module.decompress(stream, mostBytes);
        } catch (error) {
          return faultOf(error);
        }
      },
    };
    return behaves(decoder) ? decoder : undefined;
  } catch {
    return undefined;
  }
}
