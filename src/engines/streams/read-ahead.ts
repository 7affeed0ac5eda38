import type { Pieces } from './stream-engine.js';
import { interrupted } from './stream-input.js';

/** Pieces below this are put together where several are ready. */
const SMALL_BYTES = 16 * 1024;

/**
 * Pieces that are made while whoever reads them is busy with the ones before. Small ones that have come meanwhile are given
 * out as one.
 * @param make makes them; ends when the signal that it is given is aborted
 * @param most no more are made while so many bytes wait
 * @param outer aborts it too
 */
export async function* readAhead(make: (signal: AbortSignal) => Pieces, most: number, outer?: AbortSignal): Pieces {
  const stop = new AbortController();
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]);
  const ready = new ReadyPieces();
  const failures: unknown[] = [];
  const filled = fill(make, most, signal, ready)
    .catch((error: unknown) => {
      failures.push(error);
    })
    .finally(() => {
      ready.end();
    });
  try {
    for (let piece = await ready.next(); piece !== undefined; piece = await ready.next()) yield piece;
    for (const failure of failures) throw failure;
  } finally {
    stop.abort();
    ready.makeRoom();
    await filled;
  }
}

async function fill(make: (signal: AbortSignal) => Pieces, most: number, signal: AbortSignal, ready: ReadyPieces): Promise<void> {
  for await (const piece of make(signal)) {
    ready.add(piece);
    while (ready.bytes >= most && !signal.aborted) await ready.room();
    // Never just the end: whoever reads would take what there is for all.
    if (signal.aborted) throw interrupted();
  }
}

const ignore = (): void => undefined;

/** Pieces that wait, between one who makes and one who reads. */
class ReadyPieces {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #wakeReader: () => void = ignore;
  #wakeMaker: () => void = ignore;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    this.#wakeReader();
  }

  end(): void {
    this.#ended = true;
    this.#wakeReader();
  }

  /** Until something has been taken. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeMaker = resolve;
    });
  }

  makeRoom(): void {
    this.#wakeMaker();
  }

  /** @returns undefined at the end */
  async next(): Promise<Buffer | undefined> {
    while (this.#pieces.length === 0) {
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    const piece = this.#take();
    this.#bytes -= piece?.length ?? 0;
    this.#wakeMaker();
    return piece;
  }

  #take(): Buffer | undefined {
    const small = this.#pieces.findIndex((piece) => piece.length >= SMALL_BYTES);
    const count = small < 0 ? this.#pieces.length : small;
    return count < 2 ? this.#pieces.shift() : Buffer.concat(this.#pieces.splice(0, count));
  }
}
