import { RevconvertError } from '../../errors.js';
import { findCopySource, hasMeta } from '../../formats/filelog-meta.js';
import { NODE_WORDS } from '../../formats/hex-node.js';
import { FLAG_CENSORED, FLAG_EXTERNAL, FLAG_HAS_META } from '../../formats/revision-flags.js';
import type { RevisionStep } from '../../streams/stage.js';
import type { Failures } from './failures.js';
import type { ReferenceCollector } from './references.js';
import { REFERENCE_NODE, TAG_FILE } from './references.js';

/**
 * A step that gathers what files were copied from.
 * @param part the filelog, by its place in the task
 */
export function createFilelogStep(part: number, references: ReferenceCollector, failures: Failures): RevisionStep {
  const words = new Int32Array(NODE_WORDS);
  return ({ path }, revision) => {
    const text = revision.text as Buffer | undefined;
    const { rev, flags } = revision;
    if (text === undefined || !hasMeta(text) || failures.has(rev)) return;
    // Mercurial looks for it there only.
    if (revision.p1 >= 0 && (flags & FLAG_HAS_META) === 0) return;
    if ((flags & (FLAG_CENSORED | FLAG_EXTERNAL)) !== 0) return;
    const source = findCopySource(text, words);
    if (source === undefined) return;
    if (typeof source === 'string') {
      failures.report(new RevconvertError('TEXT_MALFORMED', source, { path, rev, offset: revision.position }));
      return;
    }
    const name = Buffer.from(source.path, 'latin1');
    const entry = references.add(TAG_FILE, name, 0, name.length, part, rev, true);
    entry.ints.set(words, entry.at + REFERENCE_NODE);
  };
}
