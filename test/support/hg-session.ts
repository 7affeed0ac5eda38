/**
 * Real Mercurial for the tests: single commands, and a command server for long runs of commands
 * (one process start instead of one per command).
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';

/** What one `hg` command did. */
export interface HgResult {
  readonly status: number;
  readonly output: string;
}

/** Nothing of the machine's configuration reaches `hg`, so that a repository is built the same everywhere. */
export const hgEnvironment = (extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  HGRCPATH: '',
  HGPLAIN: '1',
  HGENCODING: 'UTF-8',
  HGUSER: 'Tester <tester@example.com>',
  LC_ALL: 'C.UTF-8',
  TZ: 'UTC',
  // the order of fncache is that of a set
  PYTHONHASHSEED: '0',
  ...extra,
});

export const configArguments = (config: readonly string[]): string[] => config.flatMap((item) => ['--config', item]);

const ALWAYS: readonly string[] = ['ui.interactive=no', 'ui.portablefilenames=ignore', 'devel.default-date=1500000000 0'];

/** What a single command may need beside its arguments. */
export interface HgCallOptions {
  readonly cwd?: string;
  readonly config?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** For its standard input. */
  readonly input?: Uint8Array;
}

/** Runs one command to its end, whatever its exit status. */
export function callHg(hg: string, args: readonly string[], options: HgCallOptions = {}): HgResult {
  const { cwd, config = [], env = {}, input } = options;
  const all = [...configArguments([...ALWAYS, ...config]), ...args];
  const done = spawnSync(hg, all, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(input === undefined ? {} : { input }),
    env: hgEnvironment(env),
    encoding: 'latin1',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (done.error !== undefined) throw done.error;
  return { status: done.status ?? 255, output: done.stdout + done.stderr };
}

const failure = (args: readonly string[], status: number, output: string): Error =>
  new Error(`hg ${args.join(' ').slice(0, 300)}: exit status ${status}\n${output.slice(0, 4000)}`);

/** Runs one command and fails, with all it said, unless it exits with 0. */
export function runHgOk(hg: string, args: readonly string[], options: HgCallOptions = {}): string {
  const { status, output } = callHg(hg, args, options);
  if (status !== 0) throw failure(args, status, output);
  return output;
}

/** The version of an `hg`, as numbers: [6, 3]. */
export function hgVersion(hg: string): readonly [number, number] {
  const found = /(\d+)\.(\d+)/.exec(runHgOk(hg, ['version', '--quiet']));
  return [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
}

const HEADER_BYTES = 5;

interface Pending {
  readonly parts: Buffer[];
  readonly settle: (result: HgResult) => void;
  readonly fail: (error: Error) => void;
}

/**
 * A running command server. Its pipe carries frames: one channel letter, a 32-bit length, the bytes.
 * `o` and `e` are what a command prints, `r` is its exit status, `I` and `L` ask for input (never given here).
 */
export class HgSession {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<void>;
  #received = Buffer.alloc(0);
  #greeted = false;
  #pending: Pending | undefined;

  constructor(
    hg: string,
    readonly folder: string,
    config: readonly string[] = [],
  ) {
    const args = [...configArguments([...ALWAYS, ...config]), '--repository', folder, 'serve', '--cmdserver', 'pipe'];
    this.#process = spawn(hg, args, { cwd: folder, env: hgEnvironment(), stdio: ['pipe', 'pipe', 'pipe'] });
    this.#process.stdout.on('data', (bytes: Buffer) => this.#receive(bytes));
    this.#process.stderr.on('data', (bytes: Buffer) => this.#pending?.parts.push(bytes));
    this.#process.stdin.on('error', () => undefined);
    this.#closed = new Promise((resolve) => {
      this.#process.on('error', (error) => {
        this.#pending?.fail(error);
        resolve();
      });
      this.#process.on('close', () => {
        this.#pending?.fail(new Error(`the command server ended\n${Buffer.concat(this.#pending.parts).toString('latin1')}`));
        resolve();
      });
    });
  }

  /** Runs a command to its end, whatever its exit status. */
  async call(...args: readonly string[]): Promise<HgResult> {
    const body = Buffer.from(args.join('\0'));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    return new Promise<HgResult>((settle, fail) => {
      this.#pending = { parts: [], settle, fail };
      this.#process.stdin.write(Buffer.concat([Buffer.from('runcommand\n'), length, body]));
    });
  }

  /** Runs a command and fails, with all it said, unless it exits with 0. */
  async run(...args: readonly string[]): Promise<string> {
    const { status, output } = await this.call(...args);
    if (status !== 0) throw failure(args, status, output);
    return output;
  }

  async close(): Promise<void> {
    this.#process.stdin.end();
    await this.#closed;
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      if (this.#received.length < HEADER_BYTES) return;
      const channel = String.fromCharCode(this.#received[0] ?? 0);
      const length = this.#received.readUInt32BE(1);
      const asksForInput = channel === 'I' || channel === 'L';
      const end = HEADER_BYTES + (asksForInput ? 0 : length);
      if (this.#received.length < end) return;
      const body = this.#received.subarray(HEADER_BYTES, end);
      this.#received = this.#received.subarray(end);
      this.#frame(channel, body);
    }
  }

  #frame(channel: string, body: Buffer): void {
    if (channel === 'I' || channel === 'L') {
      this.#process.stdin.write(Buffer.alloc(4));
    } else if (!this.#greeted) {
      this.#greeted = true;
    } else if (channel === 'r') {
      const done = this.#pending;
      this.#pending = undefined;
      done?.settle({ status: body.readInt32BE(0), output: Buffer.concat(done.parts).toString('latin1') });
    } else {
      this.#pending?.parts.push(Buffer.from(body));
    }
  }
}

/** Opens a command server on a repository, does the work, and closes it again. */
export async function withHg<T>(
  hg: string,
  folder: string,
  config: readonly string[],
  work: (session: HgSession) => Promise<T>,
): Promise<T> {
  const session = new HgSession(hg, folder, config);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
