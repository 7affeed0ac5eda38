import type { ErrorData } from '../../errors.js';
import { RevconvertError } from '../../errors.js';
import type { RevlogKind } from '../../formats/record.js';
import { FLAG_CENSORED, FLAG_ELLIPSIS } from '../../formats/revision-flags.js';
import type { BundleVerification, KindVerification } from './result.js';
import { MAX_LISTED } from './result.js';

type Counts = { -readonly [name in keyof KindVerification]: KindVerification[name] };

const noCounts = (): Counts => ({ groups: 0, revisions: 0, checked: 0, unresolved: 0, unhashed: 0, failed: 0, deltaBytes: 0, textBytes: 0 });

/** Warnings that are listed, at most. */
const MAX_WARNINGS = 100;

/** Gathers what a verification finds. */
export class BundleFindings {
  readonly kinds: Readonly<Record<RevlogKind, Counts>> = { changelog: noCounts(), manifest: noCounts(), filelog: noCounts() };
  changegroups = 0;
  outsideParents = 0;
  outsideBases = 0;
  readonly #unhashed = { censored: 0, ellipsis: 0, external: 0 };
  readonly #damage: ErrorData[] = [];
  #damages = 0;
  readonly #warnings: string[] = [];

  /** @returns its place in the list, for {@link amend}; -1: the list is full */
  report(error: RevconvertError): number {
    this.#damages++;
    return this.#damage.length < MAX_LISTED ? this.#damage.push(error.toJSON()) - 1 : -1;
  }

  /** Says more about what was reported. */
  amend(place: number, more: string): void {
    const known = this.#damage[place];
    if (known !== undefined) this.#damage[place] = new RevconvertError(known.code, `${known.message}; ${more}`, known.at).toJSON();
  }

  warn(message: string): void {
    if (this.#warnings.length < MAX_WARNINGS) this.#warnings.push(message);
  }

  countUnhashed(kind: RevlogKind, flags: number): void {
    this.kinds[kind].unhashed++;
    this.#unhashed[(flags & FLAG_CENSORED) !== 0 ? 'censored' : (flags & FLAG_ELLIPSIS) !== 0 ? 'ellipsis' : 'external']++;
  }

  finish(): BundleVerification {
    return {
      sound: this.#damages === 0,
      changegroups: this.changegroups,
      kinds: this.kinds,
      unhashed: this.#unhashed,
      outsideParents: this.outsideParents,
      outsideBases: this.outsideBases,
      damages: this.#damages,
      damage: this.#damage,
      warnings: this.#warnings,
    };
  }
}
