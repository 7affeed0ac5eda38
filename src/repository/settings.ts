import type { PolicySet } from '../delta/policy.js';
import type { RedeltaMode } from '../delta/policy-input.js';
import type { EngineName } from '../engines/engine.js';
import type { RevlogKind } from '../formats/record.js';

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
  /** Mode of new files, as in the source's store; undefined: what the umask gives. */
  readonly fileMode: number | undefined;
}
