import { toRevconvertError } from '../../errors.js';
import type { ObsoleteMarkers } from '../../formats/obsstore.js';
import { parseObsoleteMarkers } from '../../formats/obsstore.js';
import type { PhaseRoot } from '../../formats/phase-roots.js';
import { parsePhaseRoots } from '../../formats/phase-roots.js';
import type { Repository } from '../../repository/open.js';
import { readSmallFile } from '../../repository/read-file.js';

/** Files that say more of changesets than the changelog does. */

const MAX_BYTES = 1 << 28;
const MAX_DIRSTATE_BYTES = 1 << 30;

/** @throws RevconvertError TEXT_MALFORMED with the file; FILE_TOO_LARGE, PERMISSION, SYSTEM */
export const readPhaseRoots = ({ storeFolder }: Repository): readonly PhaseRoot[] => parsed(`${storeFolder}/phaseroots`, (bytes) => parsePhaseRoots(bytes.toString('latin1'))) ?? [];

/** Undefined where there are none. @throws RevconvertError TEXT_MALFORMED with the file; FILE_TOO_LARGE, PERMISSION, SYSTEM */
export const readObsoleteMarkers = ({ storeFolder }: Repository): ObsoleteMarkers | undefined =>
  parsed(`${storeFolder}/obsstore`, (bytes) => (bytes.length === 0 ? undefined : parseObsoleteMarkers(bytes)));

function parsed<T>(path: string, parse: (bytes: Buffer) => T): T | undefined {
  const bytes = readSmallFile(path, MAX_BYTES);
  if (bytes === undefined) return undefined;
  try {
    return parse(bytes);
  } catch (error) {
    throw toRevconvertError(error, { path });
  }
}

/**
 * Nodes that stay visible although they are obsolete (source: Mercurial 6.3 and 7.2, tried): the parents of the working
 * copy, and what bookmarks and local tags name. Tags that are committed do not count.
 * @throws RevconvertError FILE_TOO_LARGE, PERMISSION, SYSTEM
 */
export function readPinnedNodes({ hgFolder, storeFolder, requirements }: Repository): string[] {
  const bookmarks = requirements.has('bookmarksinstore') ? storeFolder : hgFolder;
  return [...workingParents(`${hgFolder}/dirstate`), ...namedNodes(`${bookmarks}/bookmarks`), ...namedNodes(`${hgFolder}/localtags`)];
}

/** Lines of 40 digits, a space, a name. */
function namedNodes(path: string): string[] {
  const lines = readSmallFile(path, MAX_BYTES)?.toString('latin1').split('\n') ?? [];
  return lines.filter((line) => /^[0-9a-f]{40} /.test(line)).map((line) => Buffer.from(line.slice(0, 40), 'hex').toString('latin1'));
}

const NODE = 20;
const MAGIC = 'dirstate-v2\n';
const LONG_NODE = 32;

/** A dirstate begins with two nodes; of version 2, behind its magic, each takes 32 bytes. */
function workingParents(path: string): string[] {
  const bytes = readSmallFile(path, MAX_DIRSTATE_BYTES) ?? Buffer.alloc(0);
  const isSecond = bytes.toString('latin1', 0, MAGIC.length) === MAGIC;
  const [start, step] = isSecond ? [MAGIC.length, LONG_NODE] : [0, NODE];
  return [start, start + step].map((at) => bytes.toString('latin1', at, at + NODE));
}
