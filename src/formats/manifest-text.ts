import { HEX_NODE } from './hex-node.js';

/**
 * The text of a manifest: a line for each file, sorted by path (source: Mercurial 6.3 and 7.2, tried):
 *
 *     path, NUL, 40 digits (the node of the file's revision), at most one flag, LF
 *
 * Flags: `l` a link, `x` executable, `t` a folder, whose node is that of its own manifest.
 */

/** Where the parts of a line stand, in bytes of the text. The path begins where the line does. */
export interface ManifestLine {
  pathEnd: number;
  /** Of the 40 digits. */
  nodeAt: number;
  /** The flag as a byte; 0 where there is none. */
  flag: number;
  /** Where the next line begins. */
  end: number;
}

const LF = 0x0a;
const FLAGS: ReadonlySet<number> = new Set(['l', 'x', 't'].map((flag) => flag.charCodeAt(0)));
export const FLAG_FOLDER = 't'.charCodeAt(0);

/**
 * Finds the parts of the line at `at`.
 * @param line filled in place: there are millions of lines
 * @returns what is wrong with it; undefined: nothing
 */
export function findManifestLine(text: Buffer, at: number, line: ManifestLine): string | undefined {
  const size = text.length;
  let pathEnd = at;
  for (let byte = text[pathEnd]; byte !== 0; byte = text[++pathEnd]) {
    if (pathEnd >= size || byte === LF) return 'a line without NUL';
  }
  if (pathEnd === at) return 'a line without a path';
  const nodeAt = pathEnd + 1;
  let end = nodeAt + HEX_NODE;
  let flag = text[end] ?? -1;
  line.flag = 0;
  if (flag !== LF && FLAGS.has(flag)) {
    line.flag = flag;
    flag = text[++end] ?? -1;
  }
  if (flag !== LF) return end >= size ? 'the last line is cut short' : 'a line whose node is not 40 digits and at most one flag';
  line.pathEnd = pathEnd;
  line.nodeAt = nodeAt;
  line.end = end + 1;
  return undefined;
}

/** Whether the path of the line at `a` comes before that of the line at `b`. */
export function isBefore(text: Buffer, a: number, b: number): boolean {
  for (let i = 0; ; i++) {
    const left = text[a + i] ?? 0;
    const right = text[b + i] ?? 0;
    if (left !== right) return left < right;
    if (left === 0) return false;
  }
}
