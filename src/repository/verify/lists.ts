import type { BytePath } from '../../formats/store-path.js';
import { encodeDirectories } from '../../formats/store-path.js';
import { displayName } from '../byte-path.js';
import type { Discovery } from '../discover.js';
import { dataNameOf } from '../discover.js';
import type { Repository } from '../open.js';
import type { CrossFindings, History } from './history.js';
import { CHANGELOG, fileOf, findRevlog } from './history.js';

/**
 * Compares the list of the store's files with what lies there, and with what the history names: disorder that nobody
 * loses anything by. Pure.
 */
export function checkLists(repository: Repository, discovery: Discovery, history: History, findings: CrossFindings): void {
  const reported = new Set(findings.damage.filter(({ code }) => code === 'REVLOG_MISSING').map(({ at }) => at.path));
  const listed = new Set<BytePath>(discovery.listedNames);
  for (const name of discovery.missing) {
    const path = displayName(name);
    if (!reported.has(path)) findings.warn('REVLOG_MISSING', 'listed in the store and missing', { path });
  }
  const hasFncache = repository.fileList === 'fncache';
  const isReadable = canTell(history);
  for (const { id, source, name } of history.revlogs) {
    const { dataBytes } = source;
    // A strip leaves the files of what it took away, empty.
    if (source.indexBytes + dataBytes === 0) continue;
    if (!source.listed) findings.warn('STORE_DISORDER', 'in the store and not listed', { path: name });
    else if (isReadable && isOrphan(history, id)) findings.warn('STORE_DISORDER', 'neither a manifest nor a changeset names it', { path: name });
    const isData = source.name.startsWith('data/') || source.name.startsWith('meta/');
    const dataName = encodeDirectories(dataNameOf(source.name));
    if (dataBytes === 0) continue;
    if (history.stale.has(id)) findings.warn('STORE_DISORDER', 'no revision refers to the data file beside it', { path: name });
    else if (hasFncache && isData && source.listed && !listed.has(dataName)) findings.warn('STORE_DISORDER', 'its index is listed in the store, and it is not', { path: displayName(dataNameOf(source.name)) });
  }
  for (const stray of discovery.strays) findings.warn('STORE_DISORDER', 'in the store, and no part of a revlog that can be named', { path: displayName(stray) });
}

/** Whether the changesets and manifests are there to say what they name. */
function canTell(history: History): boolean {
  const changelog = findRevlog(history, CHANGELOG);
  return [...history.broken].every((id) => history.revlogs[id]?.source.kind === 'filelog') && (changelog !== undefined || history.named.size === 0);
}

function isOrphan(history: History, id: number): boolean {
  const source = history.revlogs[id]?.source;
  if (source === undefined || history.named.has(id) || history.broken.has(id) || history.table.countOf(id) === 0) return false;
  if (source.name.startsWith('meta/')) return true;
  return source.kind === 'filelog' && history.changesets.fileNumber(fileOf(source.name)) < 0;
}
