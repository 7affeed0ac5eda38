import type { EngineName } from '../../engines/engine.js';
import { ENGINES, tryLoadEngine } from '../../engines/registry.js';
import { RevconvertError } from '../../errors.js';
import type { ConvertOptions, FilledOptions } from '../../repository/options.js';
import { fillOptions } from '../../repository/options.js';

/** How a repository is made of a bundle. */
export interface CreateOptions extends Omit<ConvertOptions, 'check' | 'keepGoing' | 'lock' | 'lockTimeout' | 'onProgress'> {
  /**
   * What is checked beside what always is (every full text, and every text that has to be rebuilt, against its node).
   * `chunks`: every chunk is decoded and compared; `nodes`: the same, and the text of every revision is rebuilt, hashed and
   * compared with its node, which takes about as long again. @default 'chunks'
   */
  readonly check?: 'none' | 'chunks' | 'nodes' | undefined;
  /** Called as revlogs are done; not more often than 20 times a second. */
  readonly onProgress?: ((progress: CreateProgress) => void) | undefined;
}

/** How far a repository has come. How much there is in all only the end of the bundle says. */
export interface CreateProgress {
  readonly revlogsDone: number;
  /** Bytes of the changegroup that are in revlogs. */
  readonly bytesDone: number;
}

export interface FilledCreateOptions {
  readonly convert: FilledOptions;
  /** The same as they are given to a conversion of what is made first. */
  readonly given: ConvertOptions & { readonly to: EngineName };
  readonly checkNodes: boolean;
  readonly onProgress: ((progress: CreateProgress) => void) | undefined;
  /** What needs the whole store: new deltas, or dictionaries. It is made of one that is made first. */
  readonly isTwice: boolean;
}

/** @throws RevconvertError USAGE, ENGINE_UNKNOWN, LEVEL, POLICY */
export async function fillCreateOptions(options: CreateOptions): Promise<FilledCreateOptions> {
  const { check = 'chunks', onProgress, ...rest } = options;
  const checks: readonly string[] = ['none', 'chunks', 'nodes'];
  if (!checks.includes(check)) throw new RevconvertError('USAGE', `check must be one of ${checks.join(', ')}, found ${check}`);
  // As a new repository of Mercurial has it.
  const to = rest.to ?? ((await tryLoadEngine(ENGINES.zstd)) === undefined ? 'zlib' : 'zstd');
  const given = { ...rest, to, check: check === 'none' ? 'none' : 'chunks' } as const;
  const filled = fillOptions(given);
  const { choice = 'none' } = filled.dictionaries;
  const isTwice = filled.redelta !== 'never' || (choice !== 'none' && choice !== 'keep');
  if (!filled.generaldelta && filled.redelta === 'never') throw new RevconvertError('USAGE', 'without generaldelta every delta has to be made anew: give redelta');
  return { convert: filled, given, checkNodes: check === 'nodes', onProgress, isTwice };
}
