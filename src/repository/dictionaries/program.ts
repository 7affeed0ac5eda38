import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { RevconvertError, toRevconvertError } from '../../errors.js';
import { readDictionaryId } from '../../formats/zstd-dictionary.js';
import { collectSaid, killGroup, lastLine, notStarted } from '../child-program.js';
import { readSoundFile } from '../read-file.js';

export interface TrainingInput {
  readonly samples: readonly Uint8Array[];
  /** The most bytes of the dictionary. */
  readonly size: number;
  /** Of the dictionary. */
  readonly id: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * One set of parameters instead of a search over many: within 1 % of the best, at a fifth of the time.
 * k: bytes of a segment; d: bytes that count as one word; f: log of the table of words.
 */
const PARAMETERS = 'k=200,d=8,f=20,steps=1,split=100,accel=1';

/** Its last words where no dictionary can be made of the samples: too few, or too small. Before them it warns of much else. */
const TOO_LITTLE = /nb of samples too low|training failed : (?!.*memory)/i;

/**
 * Trains a dictionary with the `zstd` program (1.4.5 or later). The samples lie in a temporary folder, one file each, while it runs.
 * The same samples make the same dictionary.
 * @returns undefined where the program says that nothing can be made of these samples
 * @throws RevconvertError ZSTD_PROGRAM: it is not there, or failed; NO_SPACE, SYSTEM, CANCELLED
 */
export async function trainDictionary({ samples, size, id, signal }: TrainingInput): Promise<Uint8Array | undefined> {
  signal?.throwIfAborted();
  if (samples.length === 0) return undefined;
  const folder = makeFolder();
  try {
    const output = join(folder, 'dictionary');
    const list = writeSamples(folder, samples);
    const { status, killedBy, said } = await runZstd(['--quiet', `--train-fastcover=${PARAMETERS}`, `--maxdict=${size}`, `--dictID=${id}`, '-T1', '-o', output, '--filelist', list], signal);
    if (status !== 0) {
      if (status !== null && TOO_LITTLE.test(lastLine(said))) return undefined;
      throw new RevconvertError('ZSTD_PROGRAM', `zstd --train ${status === null ? `was killed by ${killedBy}` : `failed with status ${status}`}: ${lastLine(said)}`);
    }
    const bad = (what: string): RevconvertError => new RevconvertError('ZSTD_PROGRAM', `zstd --train wrote no dictionary: ${what}`);
    const written = readSoundFile(output, size, bad);
    if (written === undefined) throw bad(lastLine(said));
    const dictionary = new Uint8Array(written);
    // Older programs write a dictionary without tables where they find nothing in the samples.
    return readDictionaryId(dictionary) === id ? dictionary : undefined;
  } catch (error) {
    throw toRevconvertError(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws RevconvertError ZSTD_PROGRAM where the program is not there, or does not work */
export async function checkZstdProgram(signal?: AbortSignal): Promise<void> {
  try {
    const { status, said } = await runZstd(['--version'], signal);
    if (status !== 0) throw new RevconvertError('ZSTD_PROGRAM', `zstd --version failed with status ${status ?? 'none'}: ${lastLine(said)}`);
  } catch (error) {
    throw toRevconvertError(error);
  }
}

/** Linux keeps this folder in memory, where many small files cost least. */
const MEMORY_FOLDER = '/dev/shm';
/** Room that it must have: samples, and a page for each file. */
const ROOM = 1 << 30;

/** Where TMPDIR says, otherwise in memory where there is plenty of it, otherwise where the system keeps temporary files. */
function makeFolder(): string {
  const parents = process.env['TMPDIR'] === undefined && hasRoom(MEMORY_FOLDER) ? [MEMORY_FOLDER, tmpdir()] : [tmpdir()];
  for (const parent of parents) {
    try {
      return mkdtempSync(join(parent, 'revconvert-dictionary-'));
    } catch (error) {
      if (parent === parents.at(-1)) throw toRevconvertError(error, { path: parent });
    }
  }
  throw new RevconvertError('INTERNAL', 'no folder for samples');
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM;
  } catch {
    return false;
  }
}

/**
 * @returns the file that lists the samples: the order of a folder is any
 * @throws RevconvertError NO_SPACE, SYSTEM with the file: a write that fails does not name it
 */
function writeSamples(folder: string, samples: readonly Uint8Array[]): string {
  const write = (name: string, content: Uint8Array | string): string => {
    const path = join(folder, name);
    try {
      writeFileSync(path, content);
    } catch (error) {
      throw toRevconvertError(error, { path });
    }
    return path;
  };
  const paths = samples.map((sample, i) => write(String(i), sample));
  return write('list', paths.map((path) => `${path}\n`).join(''));
}

function runZstd(args: readonly string[], signal: AbortSignal | undefined): Promise<{ status: number | null; killedBy: string; said: string }> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = spawn('zstd', args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    const kill = (): void => {
      killGroup(child.pid);
    };
    signal?.addEventListener('abort', kill, { once: true });
    const said = collectSaid(child.stderr);
    let failure: Error | undefined;
    child.on('error', (error: NodeJS.ErrnoException) => {
      failure = notStarted(error, 'ZSTD_PROGRAM', 'zstd, which trains dictionaries');
      if (child.pid === undefined) reject(failure);
    });
    // Not before it is gone: its folder is removed next.
    child.on('close', (status, killedBy) => {
      signal?.removeEventListener('abort', kill);
      if (signal?.aborted === true) reject(new RevconvertError('CANCELLED', 'interrupted'));
      else if (failure === undefined) resolve({ status, killedBy: killedBy ?? '', said: said() });
      else reject(failure);
    });
  });
}
