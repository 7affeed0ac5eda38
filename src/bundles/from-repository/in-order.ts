/** How {@link inOrder} works. */
export interface InOrderOptions<L, P, R> {
  /** Pieces of work, in the order in which their results are wanted. Each is made only when a lane is free for it. */
  readonly work: Iterable<P>;
  /** Each does one piece after the other. */
  readonly lanes: readonly L[];
  readonly perform: (piece: P, lane: L) => Promise<R>;
  /** Bytes of memory that a result takes. */
  readonly bytesOf: (result: R) => number;
  /** While results that are not asked for yet take so many bytes no more work is begun. */
  readonly maxWaitingBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** A piece of work that is done. */
export interface Done<P, R> {
  readonly piece: P;
  readonly result: R;
}

/**
 * Does work in lanes, and gives the results out in order. Who stops asking for them, or is slow, stops the lanes.
 * @throws (rejects with) the first failure, at once; the reason of the signal
 */
export async function* inOrder<L, P, R>({ work, lanes, perform, bytesOf, maxWaitingBytes, signal }: InOrderOptions<L, P, R>): AsyncGenerator<Done<P, R>, void, void> {
  const pieces = work[Symbol.iterator]();
  const ready = new Map<number, Done<P, R>>();
  let begun = 0;
  let next = 0;
  let waitingBytes = 0;
  let open = true;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void)[] = [];
  const changed = async (): Promise<void> => new Promise((resolve) => wake.push(resolve));
  const announce = (): void => {
    const waiting = wake;
    wake = [];
    for (const go of waiting) go();
  };
  const fail = (error: unknown): void => {
    failure ??= { error };
    announce();
  };
  const isOn = (): boolean => open && failure === undefined;

  const drain = async (lane: L): Promise<void> => {
    for (;;) {
      // What is asked for next has been begun wherever anything waits behind it.
      while (isOn() && waitingBytes >= maxWaitingBytes) await changed();
      if (!isOn()) return;
      const piece = pieces.next();
      if (piece.done === true) return;
      const place = begun++;
      const result = await perform(piece.value, lane);
      ready.set(place, { piece: piece.value, result });
      waitingBytes += bytesOf(result);
      announce();
    }
  };

  const abort = (): void => fail(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  let running = lanes.length;
  for (const lane of lanes) {
    void drain(lane)
      .catch(fail)
      .finally(() => {
        running--;
        announce();
      });
  }
  try {
    for (;;) {
      if (failure !== undefined) throw failure.error;
      const done = ready.get(next);
      if (done !== undefined) {
        ready.delete(next++);
        waitingBytes -= bytesOf(done.result);
        announce();
        yield done;
      } else if (running === 0) return;
      else await changed();
    }
  } finally {
    open = false;
    signal?.removeEventListener('abort', abort);
    announce();
  }
}
