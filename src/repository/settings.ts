import type { PolicySet } from '../delta/policy.js';
import type { RedeltaMode } from '../delta/policy-input.js';
import type { Dictionaries, EngineName } from '../engines/engine.js';
import type { RevlogKind } from '../formats/record.js';
import type { ChunkFate } from '../transforms/recompress.js';
import type { DictionarySet } from './dictionaries/folder.js';
import { NO_DICTIONARIES } from './dictionaries/folder.js';

/** What zstd dictionaries have to do with a conversion. Plain data. */
export interface ConversionDictionaries {
  /** Those that chunks of the source may name. */
  readonly source: Dictionaries;
  /** Those of the new store, and by which of them chunks are compressed. */
  readonly target: DictionarySet;
  /** Which chunks are made anew. */
  readonly fate: ChunkFate;
}

/** Neither store has any. */
export const WITHOUT_DICTIONARIES: ConversionDictionaries = { source: new Map(), target: NO_DICTIONARIES, fate: 'all' };

/** How every revlog of a conversion is made: what a worker has to know. Plain data; it crosses threads. */
export interface ConversionSettings {
  readonly engine: EngineName;
  /** Level by kind; undefined: the engine's default. */
  readonly levels: Readonly<Record<RevlogKind, number | undefined>>;
  /** zstd frame checksums. */
  readonly checksum: boolean;
  /** Decode every chunk that was written and compare. */
  readonly checkChunks: boolean;
  /** Carry damaged revisions over instead of stopping. */
  readonly keepGoing: boolean;
  /** Which deltas are computed anew. */
  readonly redelta: RedeltaMode;
  /** How they are chosen; without effect where `redelta` is never. */
  readonly policy: PolicySet;
  /** Write manifests and filelogs with generaldelta, whatever the source has. */
  readonly generaldelta: boolean;
  readonly dictionaries: ConversionDictionaries;
  /** Mode of new files, as in the source's store; undefined: what the umask gives. */
  readonly fileMode: number | undefined;
}

/** Whether the source has dictionaries that the new store does not have: what is carried as it is must not need them. */
export const leavesDictionaries = ({ source, target }: ConversionDictionaries): boolean =>
  [...source.keys()].some((id) => !target.dictionaries.some((kept) => kept.id === id));
