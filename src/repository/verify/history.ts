import type { ErrorCode, ErrorData, ErrorPlace } from '../../errors.js';
import { RevconvertError } from '../../errors.js';
import type { BytePath } from '../../formats/store-path.js';
import { displayName } from '../byte-path.js';
import type { RevlogSource } from '../discover.js';
import type { Changesets } from './changesets.js';
import type { RevisionTable } from './revisions.js';

/** A revlog of the repository that is verified; its number is its place in the list of all. */
export interface KnownRevlog {
  readonly id: number;
  readonly source: RevlogSource;
  /** For messages. */
  readonly name: string;
}

/** All that is known of a repository once every revlog has been looked at. */
export interface History {
  readonly revlogs: readonly KnownRevlog[];
  /** Their numbers, by the name of the store. */
  readonly byName: ReadonlyMap<BytePath, number>;
  readonly table: RevisionTable;
  readonly changesets: Changesets;
  /** Revlogs whose index cannot be read. */
  readonly broken: ReadonlySet<number>;
  /** Revisions of each revlog whose text is not sound, or says nothing that can be relied on. */
  readonly unsound: ReadonlyMap<number, ReadonlySet<number>>;
  /** Revlogs that manifests name. */
  readonly named: ReadonlySet<number>;
  /** Files that manifests name, and that have no revlog. */
  readonly gone: ReadonlySet<BytePath>;
  /** Revlogs with a data file that no revision refers to. */
  readonly stale: ReadonlySet<number>;
  /** False for files that a narrow repository does not have. */
  readonly isInside: (path: BytePath) => boolean;
}

/** What the cross-checks find. */
export class CrossFindings {
  readonly damage: ErrorData[] = [];
  readonly warnings: ErrorData[] = [];
  /** Revisions that could not be compared, since what they are to be compared with is damaged. */
  unchecked = 0;

  fault(code: ErrorCode, message: string, at: ErrorPlace): void {
    this.damage.push(new RevconvertError(code, message, at).toJSON());
  }

  warn(code: ErrorCode, message: string, at: ErrorPlace): void {
    this.warnings.push(new RevconvertError(code, message, at).toJSON());
  }
}

export const CHANGELOG = '00changelog.i';
export const MANIFEST = '00manifest.i';

/** The path that a filelog is of. */
export const fileOf = (name: BytePath): BytePath => name.slice('data/'.length, -'.i'.length);

export const filelogOf = (path: BytePath): BytePath => `data/${path}.i`;

/** The manifest of a folder. */
export const manifestOf = (folder: BytePath): BytePath => `meta/${folder}/00manifest.i`;

/** What stands in front of the paths of a manifest. */
export const folderOfManifest = (name: BytePath): BytePath => (name.startsWith('meta/') ? name.slice('meta/'.length, -'00manifest.i'.length) : '');

/** A revlog of that name, where it has revisions or cannot be read; undefined: there is nothing. */
export function findRevlog(history: Pick<History, 'byName' | 'table' | 'broken'>, name: BytePath): number | undefined {
  const id = history.byName.get(name);
  return id !== undefined && (history.broken.has(id) || history.table.countOf(id) > 0) ? id : undefined;
}

export const known = (source: RevlogSource, id: number): KnownRevlog => ({ id, source, name: displayName(source.name) });
