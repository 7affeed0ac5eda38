import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { Writable } from 'node:stream';

import { toRevconvertError } from '../errors.js';
import type { RevisionBatch } from '../formats/record.js';
import { RevlogWriter } from './revlog-writer.js';

export interface WriteRevlogOptions {
  /** The `.i` file to make. */
  readonly indexFile: string;
  /** @default the index file with `.d` for `.i` */
  readonly dataFile?: string;
  /** Write deltas against any earlier revision. Needed where the source has it. @default true */
  readonly generaldelta?: boolean;
  /** Header bits of Mercurial 7.1 and newer, without which the flags of entries lose their meaning: give the source's. @default false */
  readonly filelogMeta?: boolean;
  readonly deltaInfo?: boolean;
}

/**
 * A revlog as the end of a pipeline: takes batches whose `chunk` is filled. Written under temporary names, flushed,
 * then renamed, the data before the index; destroyed or failed, it leaves nothing behind.
 * @returns Writable of RevisionBatch, object mode
 */
export function writeRevlog(options: WriteRevlogOptions): Writable {
  const { indexFile, generaldelta = true, filelogMeta = false, deltaInfo = false } = options;
  const dataFile = options.dataFile ?? `${indexFile.replace(/\.i$/, '')}.d`;
  const temporary = { indexFile: `${indexFile}.tmp`, dataFile: `${dataFile}.tmp` };
  const writer = new RevlogWriter({ ...temporary, path: indexFile, generaldelta, filelogMeta, deltaInfo });
  /** What stands under its final name; removed again where the rest cannot follow. */
  const placed: string[] = [];
  let finished = false;
  return new Writable({
    objectMode: true,
    highWaterMark: 2,
    write(batch, _encoding, done) {
      attempt(() => writer.write(batch as RevisionBatch), done);
    },
    final(done) {
      attempt(() => {
        const { inline } = writer.finish();
        const moves = [{ from: temporary.indexFile, to: indexFile }];
        if (!inline) moves.unshift({ from: temporary.dataFile, to: dataFile });
        for (const { from } of moves) flush(from);
        for (const { from, to } of moves) {
          renameSync(from, to);
          placed.push(to);
        }
        finished = true;
      }, done);
    },
    destroy(error, done) {
      attempt(
        () => {
          if (finished) return;
          writer.abort();
          for (const file of placed) rmSync(file, { force: true });
        },
        (failure) => done(error ?? failure ?? null),
      );
    },
  });
}

function flush(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function attempt(action: () => void, done: (error?: Error | null) => void): void {
  try {
    action();
  } catch (error) {
    done(toRevconvertError(error));
    return;
  }
  done();
}
