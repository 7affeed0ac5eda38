import { RevconvertError } from '../errors.js';
import type { ListedRevlog } from '../repository/list-revlogs.js';
import { listRevlogs } from '../repository/list-revlogs.js';
import type { FilledPerfOptions } from './perf-options.js';

type Wanted = Pick<FilledPerfOptions, 'changelog' | 'manifest' | 'file' | 'largest'>;

/**
 * The revlogs that are measured: for each what it is in each of the repositories.
 * @throws RevconvertError USAGE where a file was named that one of them does not have; otherwise as `listRevlogs`
 */
export function chooseRevlogs(repositories: readonly string[], { changelog, manifest, file, largest }: Wanted): ListedRevlog[][] {
  const stores = repositories.map((repository) => new Map(listRevlogs(repository).map((revlog) => [revlog.path, revlog])));
  const inAll = (path: string): ListedRevlog[] | undefined => {
    const found = stores.flatMap((store) => store.get(path) ?? []);
    return found.length === stores.length ? found : undefined;
  };
  const chosen: ListedRevlog[][] = [];
  const choose = (path: string): void => {
    const found = inAll(path);
    if (found !== undefined) chosen.push(found);
  };
  if (changelog) choose('00changelog.i');
  if (manifest) choose('00manifest.i');
  if (file !== undefined) chosen.push(inAll(`data/${file}.i`) ?? inAll(file) ?? failMissing(file, repositories));
  if (largest) {
    const filelogs = [...(stores[0]?.values() ?? [])].filter(({ kind, path }) => kind === 'filelog' && inAll(path) !== undefined);
    const [first, ...others] = filelogs;
    if (first !== undefined) choose(others.reduce((most, one) => (one.bytes > most.bytes ? one : most), first).path);
  }
  return chosen;
}

function failMissing(file: string, repositories: readonly string[]): never {
  throw new RevconvertError('USAGE', `there is no file ${file} in the store of ${repositories.join(', or not in that of ')}`);
}
