import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

import { checkLevel } from '../engines/registry.js';
import { PieceCollector } from '../engines/streams/collector.js';
import { BUNDLE_ENGINES } from '../engines/streams/registry.js';
import { interrupted, StreamInput } from '../engines/streams/stream-input.js';
import { RevconvertError, toRevconvertError } from '../errors.js';
import { collectSaid, killGroup, lastLine, notStarted } from '../repository/child-program.js';
import type { Compress } from '../sinks/bundle/write-bundle.js';

export interface Bzip2Options {
  /** 1 to 9. @default 9 */
  readonly level?: number | undefined;
  /** Ends the program, and the work. */
  readonly signal?: AbortSignal | undefined;
}

const PROGRAM = 'bzip2, which writes bzip2 bundles';
/** The most bytes that are handed to the program at a stretch. */
const MOST_INPUT = 256 * 1024;
/** The fewest bytes that are given out before the end. */
const LEAST_OUTPUT = 64 * 1024;
/** Both hold options that somebody else has set: they come before ours, and may be of another mind. */
const NO_OPTIONS = { BZIP: undefined, BZIP2: undefined };
/** What no bytes become, behind `BZh` and the level: the end's magic, and a CRC of 0. */
const EMPTY_END = '17724538509000000000';

/**
 * Compresses with the program `bzip2`. That it is there and works is made sure of first, before anything is written.
 * @returns a function of what to compress; it throws BZIP_PROGRAM where the program fails, CANCELLED, and whatever its source does
 * @throws RevconvertError BZIP_PROGRAM, LEVEL, CANCELLED
 */
export async function bzip2Compressor(options: Bzip2Options = {}): Promise<Compress> {
  const level = checkLevel(BUNDLE_ENGINES.bzip2, options.level) ?? 9;
  const compress: Compress = (source) => compressWith(level, source, options.signal);
  const made: Buffer[] = [];
  for await (const piece of compress(nothing())) made.push(piece);
  if (Buffer.concat(made).toString('hex', 4) !== EMPTY_END) throw new RevconvertError('BZIP_PROGRAM', `the program ${PROGRAM}, does not write what bzip2 writes`);
  return compress;
}

async function* nothing(): AsyncGenerator<Buffer, void, void> {
  // No bytes at all.
}

async function* compressWith(level: number, source: AsyncIterable<Buffer>, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, void> {
  const input = new StreamInput(source, MOST_INPUT, 0, signal);
  const program = new Bzip2Program(level);
  const kill = (): void => {
    program.kill();
  };
  signal?.addEventListener('abort', kill, { once: true });
  try {
    void program.feed(input);
    const outputs = new PieceCollector(LEAST_OUTPUT);
    for await (const made of program.outputs()) {
      const enough = outputs.add(made);
      if (enough !== undefined) yield enough;
    }
    if (signal?.aborted === true) throw interrupted();
    await program.succeeded();
    const rest = outputs.rest();
    if (rest !== undefined) yield rest;
  } finally {
    signal?.removeEventListener('abort', kill);
    program.kill();
    await input.close();
    await program.gone;
  }
}

/** One run of the program, from its standard input to its standard output. */
class Bzip2Program {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #said: () => string;
  #failure: Error | undefined;
  #end: { readonly status: number | null; readonly killedBy: string | null } | undefined;
  /** What the source threw. */
  #sourceFailure: { readonly error: unknown } | undefined;
  #fed = false;
  /** Kept, once it was not started, or has ended. */
  readonly gone: Promise<void>;

  constructor(level: number) {
    this.#child = spawn('bzip2', ['-z', '-c', `-${level}`], { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env: { ...process.env, ...NO_OPTIONS } });
    this.#said = collectSaid(this.#child.stderr);
    // It does not read on: how it ended says why.
    this.#child.stdin.on('error', () => undefined);
    this.gone = new Promise((resolve) => {
      this.#child.on('error', (error: NodeJS.ErrnoException) => {
        this.#failure = notStarted(error, 'BZIP_PROGRAM', PROGRAM);
        if (this.#child.pid === undefined) resolve();
      });
      this.#child.on('close', (status, killedBy) => {
        this.#end = { status, killedBy };
        resolve();
      });
    });
  }

  /** Until it ends, in whatever way: `succeeded` says how. */
  async *outputs(): AsyncGenerator<Buffer, void, void> {
    try {
      yield* this.#child.stdout as AsyncIterable<Buffer>;
    } catch {
      await this.gone;
    }
  }

  /** Hands all of a source to the program, as it takes it. What the source throws ends the program. Never rejects. */
  async feed(input: StreamInput): Promise<void> {
    try {
      for (let piece = await input.next(); piece !== undefined; piece = await input.next()) {
        if (!(await this.#write(piece))) return;
      }
      this.#fed = true;
      this.#child.stdin.end();
    } catch (error) {
      this.#sourceFailure = { error };
      this.kill();
    }
  }

  /** @returns whether the program has taken it */
  #write(piece: Uint8Array): Promise<boolean> {
    return new Promise((resolve) => {
      this.#child.stdin.write(piece, (error) => {
        resolve(!(error instanceof Error));
      });
    });
  }

  /** @throws what the source threw; RevconvertError BZIP_PROGRAM where the program did not do its work; what the system says */
  async succeeded(): Promise<void> {
    await this.gone;
    if (this.#sourceFailure !== undefined) throw this.#sourceFailure.error;
    if (this.#failure !== undefined) throw toRevconvertError(this.#failure);
    const { status = null, killedBy = null } = this.#end ?? {};
    if (status === 0 && this.#fed) return;
    const how = status === null ? `was killed by ${killedBy}` : status === 0 ? 'ended before it had read everything' : `failed with status ${status}`;
    const said = lastLine(this.#said());
    throw new RevconvertError('BZIP_PROGRAM', `the program ${PROGRAM}, ${how}${said === '' ? '' : `: ${said}`}`);
  }

  kill(): void {
    if (this.#end === undefined) killGroup(this.#child.pid);
  }
}
