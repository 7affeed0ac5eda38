import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
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
}

/**
 * A revlog as the end of a pipeline: takes batches whose `chunk` is filled. Written under temporary names, flushed,
 * then renamed, the data before the index; destroyed or failed, it leaves nothing behind.
 * @returns Writable of RevisionBatch, object mode
 */
export function writeRevlog(options: WriteRevlogOptions): Writable {
  const { indexFile, generaldelta = true } = options;
  const dataFile = options.dataFile ?? `${indexFile.replace(/\.i$/, '')}.d`;
  const temporary = { indexFile: `${indexFile}.tmp`, dataFile: `${dataFile}.tmp` };
  const writer = new RevlogWriter({ ...temporary, path: indexFile, generaldelta });
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
        if (!inline) moveIntoPlace(temporary.dataFile, dataFile);
        moveIntoPlace(temporary.indexFile, indexFile);
        finished = true;
      }, done);
    },
    destroy(error, done) {
      attempt(
        () => {
          if (!finished) writer.abort();
        },
        (failure) => done(error ?? failure ?? null),
      );
    },
  });
}

function moveIntoPlace(from: string, to: string): void {
  const descriptor = openSync(from, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(from, to);
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
