import { RevconvertError } from '../../errors.js';
import { asBuffer } from '../../formats/bytes.js';
import { readHexNode } from '../../formats/hex-node.js';
import { HUNK_HEADER, readHunkField } from '../../formats/hunks.js';
import type { ManifestLine } from '../../formats/manifest-text.js';
import { findManifestLine, FLAG_FOLDER, isBefore } from '../../formats/manifest-text.js';
import type { BytePath } from '../../formats/store-path.js';
import type { RevisionStep } from '../../streams/stage.js';
import type { Failures } from './failures.js';
import type { ReferenceCollector } from './references.js';
import { REFERENCE_NODE, TAG_FILE, TAG_FOLDER } from './references.js';

const LF = 0x0a;
const MISALIGNED = 'its delta does not begin and end where lines do, which Mercurial cannot read';

/**
 * A step that looks at the lines that each revision of a manifest brings, which are those that its delta inserts: every
 * other line came with an earlier revision. Gathers the file revisions that they name.
 * @param folder what the paths are below: '', or `dir/`
 * @param part the manifest, by its place in the task
 */
export function createManifestStep(folder: BytePath, part: number, references: ReferenceCollector, failures: Failures): RevisionStep {
  const line: ManifestLine = { pathEnd: 0, nodeAt: 0, flag: 0, end: 0 };
  const prefix = Buffer.from(folder, 'latin1');
  let path = Buffer.alloc(1 << 8);

  const add = (text: Buffer, start: number, rev: number, isSure: boolean): string | undefined => {
    const tag = line.flag === FLAG_FOLDER ? TAG_FOLDER : TAG_FILE;
    let bytes = text;
    let from = start;
    let to = line.pathEnd;
    if (prefix.length > 0) {
      const length = prefix.length + to - from;
      if (length > path.length) path = Buffer.alloc(length * 2);
      prefix.copy(path);
      text.copy(path, prefix.length, from, to);
      [bytes, from, to] = [path, 0, length];
    }
    const entry = references.add(tag, bytes, from, to, part, rev, isSure);
    if (readHexNode(text, line.nodeAt, entry.ints, entry.at + REFERENCE_NODE)) return undefined;
    references.drop();
    return 'a node is not hexadecimal';
  };

  /** Looks at the lines from `start` to `end`, both of which are where a line begins. */
  const takeLines = (text: Buffer, start: number, end: number, rev: number, isSure: boolean): string | undefined => {
    let before = start === 0 ? -1 : lineBefore(text, start);
    let at = start;
    while (at < end) {
      const problem = findManifestLine(text, at, line);
      if (problem !== undefined) return problem;
      if (before >= 0 && !isBefore(text, before, at)) return 'its lines are not sorted';
      const malformed = add(text, at, rev, isSure);
      if (malformed !== undefined) return malformed;
      before = at;
      at = line.end;
    }
    if (at !== end) return MISALIGNED;
    if (end >= text.length) return undefined;
    const problem = findManifestLine(text, end, line);
    if (problem !== undefined) return problem;
    return before >= 0 && start < end && !isBefore(text, before, end) ? 'its lines are not sorted' : undefined;
  };

  const takeHunks = (text: Buffer, delta: Buffer, rev: number, isSure: boolean): string | undefined => {
    let shift = 0;
    for (let at = 0; at + HUNK_HEADER <= delta.length; ) {
      const from = readHunkField(delta, at);
      const length = readHunkField(delta, at + 8);
      const start = from + shift;
      const end = start + length;
      if (start > 0 && text[start - 1] !== LF) return MISALIGNED;
      if (length > 0 && text[end - 1] !== LF) return end >= text.length ? 'the last line is cut short' : MISALIGNED;
      const problem = takeLines(text, start, end, rev, isSure);
      if (problem !== undefined) return problem;
      shift += length - (readHunkField(delta, at + 4) - from);
      at += HUNK_HEADER + length;
    }
    return undefined;
  };

  /** What the hunks insert, where there is no text to look at it in. */
  const guessLines = (delta: Buffer, rev: number): void => {
    for (let at = 0; at + HUNK_HEADER <= delta.length; ) {
      const end = at + HUNK_HEADER + readHunkField(delta, at + 8);
      if (end <= at || end > delta.length) return;
      const inserted = delta.subarray(at + HUNK_HEADER, end);
      for (let start = 0; start < inserted.length && findManifestLine(inserted, start, line) === undefined; start = line.end) add(inserted, start, rev, false);
      at = end;
    }
  };

  return ({ path: name }, revision) => {
    const { rev, deltaBase, delta } = revision;
    const text = revision.text as Buffer | undefined;
    if (delta === undefined) return;
    if (text === undefined) {
      if (deltaBase >= 0) guessLines(asBuffer(delta), rev);
      return;
    }
    const isSure = !failures.has(rev);
    const count = references.count;
    const problem = deltaBase < 0 ? takeLines(text, 0, text.length, rev, isSure) : takeHunks(text, asBuffer(delta), rev, isSure);
    if (problem === undefined || !isSure) return;
    references.distrust(count);
    const code = problem === MISALIGNED ? 'DELTA_MALFORMED' : 'TEXT_MALFORMED';
    failures.report(new RevconvertError(code, problem, { path: name, rev, offset: revision.position }));
  };
}

/** Where the line before the one that begins at `at` begins. */
const lineBefore = (text: Buffer, at: number): number => (at < 2 ? 0 : text.lastIndexOf(LF, at - 2) + 1);
