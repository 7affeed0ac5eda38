import type { EngineName } from '../../engines/engine.js';
import type { ErrorData } from '../../errors.js';
import type { RevlogKind } from '../../formats/record.js';
import type { ConversionSummary } from '../../repository/summary.js';
import type { BuiltStore } from './build-store.js';
import type { FilledCreateOptions } from './options.js';

export interface CreatedKind {
  readonly revlogs: number;
  readonly revisions: number;
  /** Bytes of index and data files. */
  readonly bytes: number;
}

/** What a repository was made of, and what became of it. */
export interface CreationSummary {
  readonly destination: string;
  readonly to: EngineName;
  readonly levels: Readonly<Record<RevlogKind, number | undefined>>;
  /** All requirements of the new repository, sorted. */
  readonly requirements: readonly string[];
  readonly changesets: number;
  readonly revisions: number;
  readonly kinds: Readonly<Record<RevlogKind, CreatedKind>>;
  /** Of all revlogs. */
  readonly bytes: number;
  readonly bookmarks: number;
  /** Obsolescence markers. */
  readonly markers: number;
  /** What became of the deltas of the bundle. */
  readonly deltas: { readonly kept: number; readonly chosen: number };
  /** The second step, where there was one: new deltas, or dictionaries. Its source is what the first step made. */
  readonly conversion: ConversionSummary | undefined;
  readonly checked: 'none' | 'chunks' | 'nodes';
  /** Threads that worked. */
  readonly jobs: number;
  readonly milliseconds: number;
  /** What a person should know, in words. */
  readonly notices: readonly string[];
  /** Faults of the history that the check of nodes found: the bundle has them too. */
  readonly warnings: readonly ErrorData[];
}

export interface CreationInput {
  readonly destination: string;
  readonly to: EngineName;
  readonly levels: CreationSummary['levels'];
  readonly options: FilledCreateOptions;
  readonly built: BuiltStore;
  readonly conversion: ConversionSummary | undefined;
  readonly notices: readonly string[];
  readonly warnings: readonly ErrorData[];
  readonly milliseconds: number;
}

export function summariseCreation(input: CreationInput): CreationSummary {
  const { built, conversion, options, milliseconds, ...rest } = input;
  const { revlogs, requirements, changesets, bookmarks, markers, threads } = built;
  const kind = (name: RevlogKind): CreatedKind => {
    const own = revlogs.filter(({ group }) => group.kind === name);
    const bytes = conversion?.kinds[name].bytesAfter ?? own.reduce((sum, revlog) => sum + revlog.bytes, 0);
    return { revlogs: own.length, revisions: own.reduce((sum, { revisions }) => sum + revisions, 0), bytes };
  };
  const kinds = { changelog: kind('changelog'), manifest: kind('manifest'), filelog: kind('filelog') };
  const all = Object.values(kinds);
  const converted = conversion === undefined ? undefined : [...conversion.requirements.added, ...conversion.requirements.kept].sort();
  return {
    ...rest,
    requirements: converted ?? [...requirements.all].sort(),
    changesets,
    revisions: all.reduce((sum, { revisions }) => sum + revisions, 0),
    kinds,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    bookmarks,
    markers,
    deltas: { kept: revlogs.reduce((sum, { kept }) => sum + kept, 0), chosen: revlogs.reduce((sum, { chosen }) => sum + chosen, 0) },
    conversion,
    checked: options.checkNodes ? 'nodes' : options.convert.check,
    jobs: threads,
    milliseconds: Math.round(milliseconds),
  };
}
