import { wordsToHex } from '../../formats/hex-node.js';
import { displayName } from '../byte-path.js';
import type { CrossFindings, History, KnownRevlog } from './history.js';
import { CHANGELOG, filelogOf, fileOf, findRevlog, MANIFEST } from './history.js';

/** What `hg verify` asks of changesets, manifests and files together; here of what was gathered while they were read. Pure. */
export function crossCheck(history: History, findings: CrossFindings): void {
  const changelog = findRevlog(history, CHANGELOG);
  const isKnown = changelog !== undefined && !history.broken.has(changelog);
  const changesets = isKnown ? history.table.countOf(changelog) : 0;
  if (changelog === undefined && findRevlog(history, MANIFEST) !== undefined) {
    findings.fault('REVLOG_MISSING', 'missing or empty, and there are manifests', { path: CHANGELOG });
  }
  const unsure = isKnown ? checkManifestNames(history, changesets, findings) : new Set<number>();
  for (const revlog of history.revlogs) {
    if (revlog.source.kind === 'changelog' || history.broken.has(revlog.id)) continue;
    checkRevlog({ history, findings, changesets: isKnown ? changesets : undefined, unsure }, revlog);
  }
  if (isKnown) checkListedFiles(history, unsure, findings);
}

/**
 * Follows the changesets to their manifests.
 * @returns the changesets whose manifest is not there, or cannot be relied on
 */
function checkManifestNames(history: History, count: number, findings: CrossFindings): Set<number> {
  const { table, changesets, broken } = history;
  const unsure = new Set<number>();
  const manifest = findRevlog(history, MANIFEST);
  let lost = 0;
  for (let rev = 0; rev < count; rev++) {
    const named = changesets.manifestOf(rev);
    if (named === undefined) continue;
    const place = manifest === undefined ? -1 : table.findAny(manifest, named.words, named.at);
    if (place >= 0) {
      table.nameAt(place);
      if (manifest !== undefined && isUnsound(history, manifest, place - table.startOf(manifest))) unsure.add(rev);
      continue;
    }
    unsure.add(rev);
    if (manifest === undefined) lost++;
    else if (!broken.has(manifest)) findings.fault('REVISION_MISSING', `names ${wordsToHex(named.words, named.at).slice(0, 12)} of ${MANIFEST}, which has no such revision`, { path: CHANGELOG, rev });
  }
  if (lost > 0) findings.fault('REVLOG_MISSING', `missing or empty; ${lost} changesets name revisions of it`, { path: MANIFEST });
  for (const { id, source } of history.revlogs) {
    if (source.kind !== 'manifest') continue;
    for (const rev of history.unsound.get(id) ?? []) unsure.add(table.linkRevAt(table.startOf(id) + rev));
  }
  return unsure;
}

const isUnsound = ({ unsound }: History, id: number, rev: number): boolean => unsound.get(id)?.has(rev) === true;

interface Check {
  readonly history: History;
  readonly findings: CrossFindings;
  /** How many there are; undefined: not known, since the changelog is missing or cannot be read. */
  readonly changesets: number | undefined;
  readonly unsure: ReadonlySet<number>;
}

/** Looks at the linkrev of every revision of a manifest or a filelog, and at whether anything names it. */
function checkRevlog(check: Check, { id, name, source }: KnownRevlog): void {
  const { history, findings, changesets, unsure } = check;
  const { table } = history;
  const file = source.kind === 'filelog' ? history.changesets.fileNumber(fileOf(source.name)) : -1;
  const isNamed = source.name === MANIFEST ? changesets !== undefined : canBeNamed(history) && history.named.has(id);
  const start = table.startOf(id);
  for (let rev = 0; rev < table.countOf(id); rev++) {
    const link = table.linkRevAt(start + rev);
    const at = { path: name, rev };
    if (changesets !== undefined && (link < 0 || link >= changesets)) {
      findings.fault('LINKREV', `points to changeset ${link}; there are ${changesets}`, at);
    } else if (changesets !== undefined && !history.changesets.isReadable(link)) {
      findings.unchecked++;
      continue;
    } else if (changesets !== undefined) checkLink(check, source.name, file, link, start + rev, at);
    if (!isNamed || table.isNamed(start + rev) || table.isDuplicate(start + rev)) continue;
    if (unsure.has(link)) findings.unchecked++;
    else findings.fault('REVISION_UNNAMED', source.name === MANIFEST ? 'no changeset names it' : 'no manifest names it', at);
  }
}

/** Whether there are manifests to be named by. */
function canBeNamed(history: History): boolean {
  const manifest = findRevlog(history, MANIFEST);
  return manifest !== undefined && !history.broken.has(manifest);
}

/** Compares what a revision points to with what that changeset says. */
function checkLink({ history, findings }: Check, name: string, file: number, link: number, place: number, at: { readonly path: string; readonly rev: number }): void {
  const { table, changesets, byName } = history;
  if (name === MANIFEST) {
    if (!table.isNamed(place)) return;
    const named = changesets.manifestOf(link);
    const found = named === undefined ? -1 : table.findAny(byName.get(MANIFEST) ?? -1, named.words, named.at);
    if (found !== place) findings.fault('LINKREV', `points to changeset ${link}, which names ${found < 0 ? 'no manifest' : 'another manifest'}`, at);
  } else if (file >= 0 && !changesets.isCut(link) && !changesets.lists(link, file)) {
    findings.fault('LINKREV', `points to changeset ${link}, which does not list the file`, at);
  }
}

/** Compares the files that changesets list with those that manifests name. */
function checkListedFiles(history: History, unsure: ReadonlySet<number>, findings: CrossFindings): void {
  const { changesets, byName, named, table, revlogs } = history;
  if (canBeNamed(history)) {
    for (const { path, first } of changesets.listedFiles()) {
      const id = byName.get(filelogOf(path));
      if ((id !== undefined && named.has(id)) || unsure.has(first) || !history.isInside(path) || history.gone.has(filelogOf(path))) continue;
      findings.fault('FILE_LIST', `lists ${displayName(path)}, which no manifest has`, { path: CHANGELOG, rev: first });
    }
  }
  for (const { id, source, name } of revlogs) {
    if (source.kind !== 'filelog' || !named.has(id) || changesets.fileNumber(fileOf(source.name)) >= 0) continue;
    const places = Array.from({ length: table.countOf(id) }, (_, rev) => table.startOf(id) + rev);
    const links = places.map((place) => table.linkRevAt(place));
    if (links.some((link) => changesets.isCut(link))) continue;
    if (links.some((link) => !changesets.isReadable(link))) findings.unchecked++;
    else findings.fault('FILE_LIST', 'manifests name it, and no changeset lists it', { path: name });
  }
}
