import type { RevlogKind } from '../formats/record.js';

/**
 * How deltas are chosen. Every field can be said in a policy file and, for one kind of revlog or all, on the command
 * line. What Mercurial does, and the constants of its rules: tried with Mercurial 6.3 and 7.2.
 */
export interface DeltaPolicy {
  /** False: every revision is a full text. */
  readonly deltas: boolean;
  /** False: the only base is the previous revision, as before Mercurial 1.9's generaldelta. */
  readonly generaldelta: boolean;
  /** Snapshots: deltas against earlier snapshots that start chains of their own (Mercurial 4.7's sparse-revlog). Needs generaldelta. */
  readonly sparse: boolean;
  /** Which parents are tried: `both`, keeping the better; `one`: the later one, the other where that fails; `none`. */
  readonly parents: 'none' | 'one' | 'both';
  /** Try the previous revision where nothing before was good enough. */
  readonly previous: boolean;
  /** Try the base that the source has, before everything else. */
  readonly sourceBase: boolean;
  /** Try all candidates and keep the smallest delta, instead of stopping at the first group that has a good one. */
  readonly exhaustive: boolean;
  /** Most deltas behind a full text; null: no limit. */
  readonly maxChainLength: number | null;
  /** Stored bytes of a chain, as a multiple of the text's length; null: no limit. */
  readonly maxChainRatio: number | null;
  /** Bytes from the start of a chain to its end in the file, as a multiple of the text's length; null: no limit. Without `sparse` only. */
  readonly maxSpanRatio: number | null;
  /** Stored bytes of one delta, as a multiple of the text's length. */
  readonly maxDeltaRatio: number;
  /** A base shorter than the text divided by this is not tried; null: all are. With `sparse` only. */
  readonly minBaseDivisor: number | null;
  /** The best compression that is thought possible: a delta that would need a better one is not tried. null: all are. */
  readonly maxCompression: number | null;
  /** Most snapshots tried of one level. */
  readonly groupSize: number;
}

/** A policy for each kind of revlog. */
export type PolicySet = Readonly<Record<RevlogKind, DeltaPolicy>>;

export const PRESET_NAMES = ['mercurial', 'mercurial-3.7', 'smallest', 'fastest-read'] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

export const DEFAULT_PRESET: PresetName = 'mercurial';

/** The rules of the newest Mercurial. */
const MERCURIAL: DeltaPolicy = {
  deltas: true,
  generaldelta: true,
  sparse: true,
  parents: 'both',
  previous: false,
  sourceBase: false,
  exhaustive: false,
  maxChainLength: 1000,
  maxChainRatio: 2,
  maxSpanRatio: 4,
  maxDeltaRatio: 1,
  minBaseDivisor: 500,
  maxCompression: 10,
  groupSize: 20,
};

/** Manifests are half hexadecimal hashes: nothing makes a quarter of them. */
const MANIFEST_COMPRESSION = 3;

/** The three kinds under one policy: changelogs without deltas, as Mercurial has written them since 4.0. */
const forKinds = (policy: DeltaPolicy): PolicySet => ({
  changelog: { ...policy, deltas: false, generaldelta: false, sparse: false },
  manifest: { ...policy, maxCompression: policy.maxCompression === null ? null : MANIFEST_COMPRESSION },
  filelog: policy,
});

/** The policies that have a name. */
export const PRESETS: Readonly<Record<PresetName, PolicySet>> = {
  'mercurial': forKinds(MERCURIAL),
  'mercurial-3.7': forKinds({ ...MERCURIAL, sparse: false, parents: 'one', previous: true, maxChainLength: null, minBaseDivisor: null, maxCompression: null }),
  'smallest': forKinds({ ...MERCURIAL, previous: true, sourceBase: true, exhaustive: true, maxChainLength: 4000, maxChainRatio: 4, maxCompression: null, groupSize: 100 }),
  'fastest-read': forKinds({ ...MERCURIAL, maxChainLength: 32, maxChainRatio: 1.5 }),
};
