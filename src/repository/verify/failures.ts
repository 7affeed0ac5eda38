import type { ErrorData } from '../../errors.js';
import { RevconvertError } from '../../errors.js';

/** The faults of one revlog, and which revisions are not sound because of which. */
export class Failures {
  readonly faults: ErrorData[] = [];
  readonly #causes: Map<number, number>;

  /** @param known revisions that are not sound, and because of which: reported elsewhere */
  constructor(known: ReadonlyMap<number, number> = new Map()) {
    this.#causes = new Map(known);
  }

  /** Whether the text of a revision is not sound. */
  has(rev: number): boolean {
    return this.#causes.has(rev);
  }

  /**
   * A fault that spoils the text of its revision. One that was known is not reported again.
   * @param base the revision that it is a delta against; below 0: none
   */
  take(error: RevconvertError, base: number): void {
    const { rev } = error.at;
    if (rev === undefined || this.#causes.has(rev)) return;
    if (this.#causes.has(base) && CAN_BE_EXCUSED.has(error.code)) {
      this.because(rev, base);
      return;
    }
    this.#causes.set(rev, rev);
    this.report(error);
  }

  /** A fault of what the text says, or of its place in the history. */
  report(error: RevconvertError): void {
    this.faults.push(error.toJSON());
  }

  /** A revision is not sound because an earlier one is not. */
  because(rev: number, cause: number): void {
    if (!this.#causes.has(rev)) this.#causes.set(rev, this.#causes.get(cause) ?? cause);
  }

  /** Pairs of revision and cause. */
  toPairs(): Int32Array {
    return Int32Array.from([...this.#causes].flat());
  }
}

/** What a part of a revlog found, as far as it is needed here. */
interface Part {
  readonly faults: readonly ErrorData[];
  readonly failed: Int32Array;
}

export interface SettledFailures {
  readonly faults: readonly ErrorData[];
  /** Revisions that are not sound, with the one that it is because of. */
  readonly causes: ReadonlyMap<number, number>;
}

/**
 * Puts together what was found in the parts of a revlog: a revision that fails where its base does, in a part that knew
 * nothing of the base, has no fault of its own. Pure.
 * @param baseOf the revision that one is a delta against; below 0: none
 */
export function settleFailures(parts: readonly Part[], baseOf: (rev: number) => number): SettledFailures {
  const found = new Map<number, number>();
  for (const { failed } of parts) for (let i = 0; i < failed.length; i += 2) found.set(failed[i] ?? 0, failed[i + 1] ?? 0);
  const all = parts.flatMap((part) => part.faults);
  const excusable = new Set(all.filter(({ code }) => CAN_BE_EXCUSED.has(code)).map(({ at }) => at.rev));
  const causes = new Map<number, number>();
  for (const [rev, cause] of [...found].sort(([a], [b]) => a - b)) {
    const before = cause !== rev ? cause : excusable.has(rev) ? baseOf(rev) : NONE;
    causes.set(rev, causes.get(before) ?? cause);
  }
  const isExcused = ({ code, at: { rev } }: ErrorData): boolean => rev !== undefined && CAN_BE_EXCUSED.has(code) && causes.get(rev) !== rev;
  const faults = all.filter((fault) => !isExcused(fault));
  return { faults: describeConsequences(faults, causes), causes };
}

const NONE = -1;

/** A wrong base makes wrong texts; everything else is a fault whatever the base is. */
const CAN_BE_EXCUSED: ReadonlySet<string> = new Set(['NODE_MISMATCH', 'CHUNK_SIZE', 'DELTA_MALFORMED']);

/** Says of each fault how many revisions it takes along. */
function describeConsequences(faults: readonly ErrorData[], causes: ReadonlyMap<number, number>): ErrorData[] {
  const taken = new Map<number, { count: number; last: number }>();
  for (const [rev, cause] of causes) {
    if (rev === cause) continue;
    const known = taken.get(cause) ?? { count: 0, last: -1 };
    taken.set(cause, { count: known.count + 1, last: Math.max(known.last, rev) });
  }
  const said = new Set<number>();
  return faults.map((fault) => {
    const { rev } = fault.at;
    const more = rev === undefined || said.has(rev) || causes.get(rev) !== rev ? undefined : taken.get(rev);
    if (more === undefined || rev === undefined) return fault;
    said.add(rev);
    const built = more.count === 1 ? `rev ${more.last}, which is built on it, fails with it` : `${more.count} revisions built on it, up to rev ${more.last}, fail with it`;
    return new RevconvertError(fault.code, `${fault.message}; ${built}`, fault.at).toJSON();
  });
}
