import type { RevlogKind } from '../formats/record.js';
import { below, displayName } from './byte-path.js';
import type { RevlogSource } from './discover.js';

/** Where a revlog of a store is, as `openRevlog` takes it. @param storeFolder that its paths are below */
export const revlogFiles = (
  { name, kind, indexPath, dataPath }: RevlogSource,
  storeFolder: string,
): { readonly path: string; readonly kind: RevlogKind; readonly indexFile: string | Buffer; readonly dataFile: string | Buffer } => ({
  path: displayName(name),
  kind,
  indexFile: below(storeFolder, indexPath),
  dataFile: below(storeFolder, dataPath),
});
