import { RevconvertError } from '../../errors.js';
import type { WrittenVersion } from './changegroup-version.js';
import { WRITTEN_VERSIONS } from './changegroup-version.js';
import type { BundleCompression, Container } from './items.js';

/** A kind of bundle, as Mercurial's bundle specifications name them (source: `hg help bundlespec`, and what 6.3 and 7.2 take). */
export interface BundleSpec {
  readonly container: Container;
  /** What the container holds: revisions, or the files of a store. */
  readonly content: 'changegroup' | 'stream';
  readonly compression: BundleCompression;
  /** Of the compression; undefined: the engine's default. */
  readonly level: number | undefined;
  /** Of the changegroup; undefined: that of the source, or what the repository needs. */
  readonly version: WrittenVersion | undefined;
  /** Parts beside the changegroup; undefined: not said. */
  readonly phases: boolean | undefined;
  readonly obsolescence: boolean | undefined;
  /** Whether the part with obsolescence markers is mandatory. */
  readonly obsolescenceMandatory: boolean | undefined;
  readonly tagsFnodesCache: boolean | undefined;
  readonly revBranchCache: boolean | undefined;
}

const COMPRESSIONS: Readonly<Record<string, BundleCompression>> = { none: 'none', gzip: 'zlib', bzip2: 'bzip2', zstd: 'zstd' };

/** The name that a specification has for a compression. */
export const SPEC_NAMES: Readonly<Record<BundleCompression, string>> = { none: 'none', zlib: 'gzip', bzip2: 'bzip2', zstd: 'zstd' };

type Shape = Pick<BundleSpec, 'container' | 'content'> & { readonly compressions: readonly BundleCompression[]; readonly version?: WrittenVersion };

const TYPES: Readonly<Record<string, Shape>> = {
  v1: { container: 'HG10', content: 'changegroup', compressions: ['none', 'zlib', 'bzip2'], version: '01' },
  v2: { container: 'HG20', content: 'changegroup', compressions: ['none', 'zlib', 'bzip2', 'zstd'] },
  v3: { container: 'HG20', content: 'changegroup', compressions: ['none', 'zlib', 'bzip2', 'zstd'], version: '03' },
  bundle2: { container: 'HG20', content: 'changegroup', compressions: ['none', 'zlib', 'bzip2', 'zstd'] },
  packed1: { container: 'HGS1', content: 'stream', compressions: ['none'] },
  streamv2: { container: 'HG20', content: 'stream', compressions: ['none', 'zlib', 'bzip2', 'zstd'] },
};

const bad = (text: string, message: string): RevconvertError => new RevconvertError('BUNDLE_SPEC', `'${text}': ${message}`);

/**
 * Reads a bundle specification: `zstd-v2`, `v1`, `gzip-v2;cg.version=03;level=9`.
 * @throws RevconvertError BUNDLE_SPEC
 */
export function parseBundleSpec(text: string): BundleSpec {
  const [given = '', ...pairs] = text.split(';');
  // A compression alone means the type that is usual today.
  const kind = Object.hasOwn(COMPRESSIONS, given) ? `${given}-v2` : given;
  if (/^(?:\w+-)?streamv3-exp$/.test(kind)) throw bad(text, 'stream clones of version 3 are experimental in Mercurial, and not supported');
  const dash = kind.indexOf('-');
  const typeName = kind.slice(dash + 1);
  const shape = Object.hasOwn(TYPES, typeName) ? TYPES[typeName] : undefined;
  if (shape === undefined) throw bad(text, `unknown type '${typeName}', expected one of ${Object.keys(TYPES).join(', ')} behind a compression`);
  const compression = dash < 0 ? defaultOf(shape) : compressionOf(text, kind.slice(0, dash));
  if (!shape.compressions.includes(compression)) {
    throw bad(text, `${typeName} bundles are compressed with ${shape.compressions.map((name) => SPEC_NAMES[name]).join(', ')}, not with ${SPEC_NAMES[compression]}`);
  }
  return withParameters(text, pairs, { ...EMPTY, ...shape, compression });
}

/** What Mercurial writes where no compression is said. */
const defaultOf = ({ content }: Shape): BundleCompression => (content === 'stream' ? 'none' : 'bzip2');

const EMPTY = { level: undefined, version: undefined, phases: undefined, obsolescence: undefined, obsolescenceMandatory: undefined, tagsFnodesCache: undefined, revBranchCache: undefined };

function compressionOf(text: string, name: string): BundleCompression {
  const found = Object.hasOwn(COMPRESSIONS, name) ? COMPRESSIONS[name] : undefined;
  if (found !== undefined) return found;
  throw bad(text, `unknown compression '${name}', expected one of ${Object.keys(COMPRESSIONS).join(', ')}`);
}

const FLAGS: Readonly<Record<string, 'phases' | 'obsolescence' | 'obsolescenceMandatory' | 'tagsFnodesCache' | 'revBranchCache'>> = {
  phases: 'phases',
  obsolescence: 'obsolescence',
  'obsolescence-mandatory': 'obsolescenceMandatory',
  tagsfnodescache: 'tagsFnodesCache',
  revbranchcache: 'revBranchCache',
};

function withParameters(text: string, pairs: readonly string[], shape: Omit<BundleSpec, 'content'> & Pick<Shape, 'content'>): BundleSpec {
  let spec: BundleSpec = { ...shape };
  for (const pair of pairs) {
    const [key, value] = pairOf(text, pair);
    const flag = Object.hasOwn(FLAGS, key) ? FLAGS[key] : undefined;
    if (flag !== undefined) spec = { ...spec, [flag]: truthOf(text, key, value) };
    else if (key === 'level') spec = { ...spec, level: wholeOf(text, value) };
    else if (key === 'cg.version' || key === 'changegroup.version') spec = withVersion(text, spec, value);
    else if (key === 'stream') spec = withStream(text, spec, value);
    else if (key === 'changegroup' && truthOf(text, key, value)) continue;
    else throw bad(text, `'${pair}' is not known here`);
  }
  return spec;
}

function pairOf(text: string, pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  if (at < 0) throw bad(text, `a parameter has the form key=value, found '${pair}'`);
  try {
    return [decodeURIComponent(pair.slice(0, at)), decodeURIComponent(pair.slice(at + 1))];
  } catch {
    throw bad(text, `'${pair}' is not escaped as in a URI`);
  }
}

function withVersion(text: string, spec: BundleSpec, value: string): BundleSpec {
  const version = WRITTEN_VERSIONS.find((one) => one === value);
  if (version === undefined) throw bad(text, `changegroups of version ${WRITTEN_VERSIONS.join(', ')} are written, found '${value}'`);
  if (spec.container === 'HG20') return { ...spec, version };
  if (version === spec.version) return spec;
  throw bad(text, `v1 bundles hold changegroups of version 01, not ${version}`);
}

function withStream(text: string, spec: BundleSpec, value: string): BundleSpec {
  if (value === 'v3-exp') throw bad(text, 'stream clones of version 3 are experimental in Mercurial, and not supported');
  if (value !== 'v2' || spec.container !== 'HG20') throw bad(text, `stream=v2 of v2 bundles is known, found stream=${value}`);
  return { ...spec, content: 'stream' };
}

const TRUTH: Readonly<Record<string, boolean>> = { yes: true, true: true, on: true, 1: true, always: true, no: false, false: false, off: false, 0: false, never: false };

function truthOf(text: string, key: string, value: string): boolean {
  const word = value.toLowerCase();
  const truth = Object.hasOwn(TRUTH, word) ? TRUTH[word] : undefined;
  if (truth === undefined) throw bad(text, `${key}: yes or no is expected, found '${value}'`);
  return truth;
}

function wholeOf(text: string, value: string): number {
  if (/^-?\d{1,3}$/.test(value)) return Number(value);
  throw bad(text, `level: a whole number is expected, found '${value}'`);
}
