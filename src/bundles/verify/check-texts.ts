import { hashInPlace, NODE_HEADROOM, nodeText } from '../../delta/node-hash.js';
import { createRunningResolver } from '../../delta/running-resolver.js';
import type { TextCache } from '../../delta/text-cache.js';
import { createTextCache } from '../../delta/text-cache.js';
import { isPromise } from '../../engines/engine.js';
import { RevconvertError } from '../../errors.js';
import { NODE } from '../../formats/bundle/changegroup.js';
import { isTombstone } from '../../formats/filelog-meta.js';
import { malformedDelta } from '../../formats/hunks.js';
import type { RevlogKind } from '../../formats/record.js';
import { FLAG_CENSORED, isHashed } from '../../formats/revision-flags.js';
import type { GroupRecords } from '../../streams/bundle/group-records.js';
import { NO_TEXT } from '../../streams/bundle/group-records.js';
import { buildText } from '../../streams/bundle/group-texts.js';
import type { GroupPlace } from '../../streams/bundle/revision-stage.js';
import type { Turns } from '../../streams/turns.js';
import type { BundleFindings } from './findings.js';
import type { GroupColumns } from './group-columns.js';

export interface CheckedGroup {
  readonly kind: RevlogKind;
  readonly place: GroupPlace;
  readonly records: GroupRecords;
  readonly columns: GroupColumns;
}

/** Texts as {@link checkTexts} needs them: with room in front of each for what is hashed with it. */
export const createCheckCache = (): TextCache => createTextCache({ headroom: NODE_HEADROOM });

/**
 * Resolves every text of a group that can be resolved, and compares it with its node. A base that nothing else needs is turned into
 * the text that is built on it, in its own memory, so that little is copied: the time goes into hashing.
 * @throws RevconvertError CANCELLED; SYSTEM where the temporary file of the deltas cannot be read
 */
export async function checkTexts({ kind, place, records, columns }: CheckedGroup, cache: TextCache, findings: BundleFindings, turns: Turns): Promise<void> {
  const lastUses = findLastUses(records);
  const counts = findings.kinds[kind];
  const failures = new Failures(findings);
  cache.clear();
  const resolver = createRunningResolver({
    cache,
    lastUse: (number) => lastUses[number] ?? -1,
    fetch: (number) => buildText(number, records, cache),
  });
  const placeOf = (number: number): ConstructorParameters<typeof RevconvertError>[2] => ({ ...place, node: records.node(number).toString('hex'), offset: columns.offset(number) });

  const check = (number: number): void => {
    const base = records.base(number);
    const rawSize = records.size(number);
    if (rawSize < 0) {
      const fault = rawSize === NO_TEXT ? records.fault(number) : undefined;
      if (rawSize !== NO_TEXT) counts.unresolved++;
      else if (fault === undefined) failures.because(number, base);
      else failures.take(number, malformedDelta(fault).located({ ...placeOf(number) }));
      return;
    }
    const baseSize = base < 0 ? 0 : records.size(base);
    const text = resolver.resolve({ rev: number, deltaBase: base, baseSize, rawSize, delta: records.delta(number) });
    if (isPromise(text)) throw new RevconvertError('INTERNAL', 'a text that has to be waited for');
    counts.textBytes += rawSize;
    const flags = columns.flags(number);
    if (isHashed(flags)) compare(number, base, text);
    else findings.countUnhashed(kind, flags);
    resolver.settle({ rev: number });
  };

  const compare = (number: number, base: number, text: Buffer): void => {
    const found = hashInPlace({ table: columns.parents, at: 0, stride: NODE }, number * 2, number * 2 + 1, text);
    const node = records.node(number);
    const isRight = found === nodeText({ table: node, at: 0, stride: NODE }, 0);
    // Where there are no flags, the text tells that it was censored.
    if (!isRight && kind === 'filelog' && isTombstone(text)) {
      findings.countUnhashed(kind, FLAG_CENSORED);
      return;
    }
    counts.checked++;
    if (isRight) return;
    if (failures.has(base)) {
      failures.because(number, base);
      return;
    }
    const hash = Buffer.from(found, 'latin1').toString('hex');
    failures.take(number, new RevconvertError('NODE_MISMATCH', `parents and text hash to ${hash}, the node is ${node.toString('hex')}`, placeOf(number)));
  };

  for (let number = 0; number < records.length; number++) {
    check(number);
    if (turns.due) await turns.give();
  }
  counts.failed += failures.finish();
}

/** For each revision the last one that is a delta against it, of those that can be resolved. */
function findLastUses(records: GroupRecords): Int32Array {
  const last = new Int32Array(records.length).fill(-1);
  for (let number = 0; number < records.length; number++) {
    const base = records.base(number);
    if (base >= 0 && records.size(number) >= 0) last[base] = number;
  }
  return last;
}

/** The revisions of a group that are not sound, and because of which. */
class Failures {
  readonly #causes = new Map<number, number>();
  /** Of those that are reported: where, and how many others fail with them. */
  readonly #reported = new Map<number, { readonly place: number; others: number }>();

  constructor(private readonly findings: BundleFindings) {}

  has(number: number): boolean {
    return this.#causes.has(number);
  }

  take(number: number, error: RevconvertError): void {
    this.#causes.set(number, number);
    this.#reported.set(number, { place: this.findings.report(error), others: 0 });
  }

  /** A revision is not sound because its base is not. */
  because(number: number, base: number): void {
    const cause = this.#causes.get(base) ?? base;
    this.#causes.set(number, cause);
    const reported = this.#reported.get(cause);
    if (reported !== undefined) reported.others++;
  }

  /** @returns how many revisions failed */
  finish(): number {
    for (const { place, others } of this.#reported.values()) {
      if (others > 0) this.findings.amend(place, others === 1 ? 'one revision built on it fails with it' : `${others} revisions built on it fail with it`);
    }
    return this.#causes.size;
  }
}
