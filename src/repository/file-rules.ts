import type { BytePath } from '../formats/store-path.js';

/**
 * What becomes of each file of a repository. Rules go by place, never by name alone: tracked files may be called
 * `undo` or `00changelog.d`, but they lie below `data`.
 */
export type FileAction =
  /** Read as a revlog and written anew. */
  | 'rewrite'
  /** Copied byte for byte, a folder with all that is in it. */
  | 'carry'
  /** Left behind: it describes the old store, or nothing. */
  | 'drop'
  /** Written from what the new store is. */
  | 'regenerate'
  /** No part of the repository. */
  | 'ignore'
  /** A folder whose files have rules of their own. */
  | 'enter'
  /** No rule: carried, and named in the summary. */
  | 'unknown';

export interface FileRule {
  /** `hg`: the name is below `.hg`; `store`: below `.hg/store` (below `.hg` too where there is no store). */
  readonly place: 'hg' | 'store';
  /** Of the whole name below the place; folders end in a slash. */
  readonly pattern: RegExp;
  readonly action: Exclude<FileAction, 'unknown'>;
  readonly why: string;
}

type Row = readonly [pattern: RegExp, action: FileRule['action'], why: string];

const rules = (place: FileRule['place'], rows: readonly Row[]): FileRule[] =>
  rows.map(([pattern, action, why]) => ({ place, pattern, action, why }));

/** The table. The first rule that matches is the one. */
export const FILE_RULES: readonly FileRule[] = [
  ...rules('store', [
    [/^requires$/, 'regenerate', 'requirements of the store'],
    [/^00(?:changelog|manifest)\.[id]$/, 'rewrite', 'changelog and root manifest'],
    [/^(?:data|dh|meta)\/$/, 'rewrite', 'file and directory revlogs, found by the list of the store'],
    [/^fncache$/, 'regenerate', 'the list of revlog files'],
    [/^fileindex(?:-(?:list|meta|tree)\.[^/]*)?$/, 'carry', 'the list of tracked files, which does not change'],
    [/^00(?:changelog|manifest)(?:\.n|-[^/]*\.nd)$/, 'carry', 'node look-up tables: revisions and nodes do not change'],
    [/^(?:phaseroots|obsstore|bookmarks|narrowspec|narrowspec\.dirstate|server-shapes)$/, 'carry', 'keyed by node, which does not change'],
    [/^lfs\/$/, 'carry', 'large file contents'],
    [/^revlog-dictionaries\/$/, 'regenerate', 'zstd dictionaries: those of the new store'],
    [/^(?:undo|journal)(?:\..*)?$/, 'drop', 'rollback data: byte offsets of the old files; kept, a rollback would cut the new ones'],
    [/^(?:.*\.)?undo\.backup\..*$/, 'drop', 'backups of a finished transaction'],
    [/^00(?:changelog|manifest)\.i\.s$/, 'drop', 'temporary index of a split'],
    [/^data-s\/$/, 'drop', 'temporary indexes of a split'],
    [/^(?:lock|.*\.break)$/, 'ignore', 'locks'],
  ]),
  ...rules('hg', [
    [/^requires$/, 'regenerate', 'requirements of the working copy'],
    [/^00changelog\.i$/, 'regenerate', 'dummy that stops clients older than the store layout'],
    [/^store\/$/, 'enter', 'the store'],
    [/^(?:wlock|lock|.*\.break)$/, 'ignore', 'locks'],
    [/^(?:undo|journal)\..*$/, 'drop', 'rollback data: the store half is gone'],
    [/^undo$/, 'drop', 'rollback data: the store half is gone'],
    [/^upgrade(?:backup)?\.[^/]*\/$/, 'drop', 'an old store that an earlier upgrade put aside; it stays in the source'],
    [/^dirstate(?:\..*|-tracked-hint)?$/, 'carry', 'working copy: its parents are nodes, which do not change'],
    [/^(?:branch|bookmarks(?:\.current)?|localtags|hgrc|hgrc-not-shared|shared|sparse|sparse\..*)$/, 'carry', 'user state'],
    [/^(?:last-message\.txt|bisect\.state|topic|evolvestate)$/, 'carry', 'user state'],
    [/^(?:rebasestate|histedit-state|graftstate|updatestate|shelvedstate|unshelverebasestate|histedit-last-edit\.txt)$/, 'carry', 'an operation that was begun'],
    [/^(?:merge|shelved|shelve-backup|strip-backup|patches|patches-.*|largefiles|transplant|origbackups)\/$/, 'carry', 'user state'],
    [/^(?:blackbox\.log.*|narrowspec.*|cached\.lfs.*)$/, 'carry', 'user state'],
    [/^w?cache\/$/, 'enter', 'caches'],
    [/^w?cache\/check(?:isexec|noexec|link|link-target)$/, 'drop', 'probes of the file system; made again'],
    [/^w?cache\/.*$/s, 'carry', 'caches: keyed by revision and node, which do not change, and checked when read'],
  ]),
];

/**
 * The rule of a file or folder.
 * @param place whose name it is
 * @param name below the place; a folder with a slash at the end
 */
export function findRule(place: FileRule['place'], name: BytePath): FileRule | undefined {
  return FILE_RULES.find((rule) => rule.place === place && rule.pattern.test(name));
}
