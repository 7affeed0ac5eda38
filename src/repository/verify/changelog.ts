import { RevconvertError } from '../../errors.js';
import { endOfLine, findChangesetFields } from '../../formats/changeset-text.js';
import { NODE_WORDS, readHexNode } from '../../formats/hex-node.js';
import { FLAG_ELLIPSIS } from '../../formats/revision-flags.js';
import type { RevisionStep } from '../../streams/stage.js';
import type { Failures } from './failures.js';
import { IntCollector, NameTable } from './names.js';
import { TAG_FILE } from './references.js';
import type { ChangesetColumns } from './tasks.js';
import { CUT, UNREADABLE } from './tasks.js';

/** Gathers what the changesets of a task say, one after the other. */
export class ChangesetCollector {
  readonly #names = new NameTable();
  readonly #manifests: Int32Array;
  readonly #fileCounts: Int32Array;
  readonly #files = new IntCollector();

  constructor(
    private readonly from: number,
    to: number,
  ) {
    this.#manifests = new Int32Array((to - from) * NODE_WORDS);
    this.#fileCounts = new Int32Array(to - from).fill(UNREADABLE);
  }

  /**
   * @param isCut it stands for others that were cut away
   * @returns what is wrong with its text
   */
  take(rev: number, text: Buffer, isCut: boolean): string | undefined {
    const fields = findChangesetFields(text);
    if (typeof fields === 'string') return fields;
    const at = rev - this.from;
    if (fields.manifestAt >= 0 && !readHexNode(text, fields.manifestAt, this.#manifests, at * NODE_WORDS)) {
      this.#manifests.fill(0, at * NODE_WORDS, (at + 1) * NODE_WORDS);
      return 'the node of its manifest is not hexadecimal';
    }
    if (isCut) {
      this.#fileCounts[at] = CUT;
      return undefined;
    }
    let count = 0;
    for (let start = fields.filesStart; start < fields.filesEnd; count++) {
      const end = endOfLine(text, start);
      this.#files.push(this.#names.numberOf(TAG_FILE, text, start, end));
      start = end + 1;
    }
    this.#fileCounts[at] = count;
    return undefined;
  }

  finish(): ChangesetColumns {
    return { from: this.from, manifests: this.#manifests, fileCounts: this.#fileCounts, files: this.#files.toInts(), names: this.#names.toBytes() };
  }
}

/** A step that looks at what each changeset says. */
export function createChangelogStep(collector: ChangesetCollector, failures: Failures): RevisionStep {
  return ({ path }, revision) => {
    const { rev, linkRev, position: offset } = revision;
    if (linkRev !== rev) failures.report(new RevconvertError('LINKREV', `the linkrev of a changeset is its own number, found ${linkRev}`, { path, rev, offset }));
    const text = revision.text as Buffer | undefined;
    if (text === undefined || failures.has(rev)) return;
    const problem = collector.take(rev, text, (revision.flags & FLAG_ELLIPSIS) !== 0);
    if (problem !== undefined) failures.report(new RevconvertError('TEXT_MALFORMED', problem, { path, rev, offset }));
  };
}
