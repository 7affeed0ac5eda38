import { RevconvertError } from '../../errors.js';
import type { Group } from '../../formats/bundle/items.js';
import { groupName } from '../../formats/bundle/items.js';
import type { BytePath } from '../../formats/store-path.js';

/** What no name of a tracked file has: an end of line or NUL, which no list of files could hold; parts that are empty or lead elsewhere. */
const UNFIT = /[\0\n\r]|^$|(?:^|\/)\.{0,2}(?:\/|$)/;

/**
 * What the store calls the revlog of a group: `00changelog.i`, `meta/dir/00manifest.i`, `data/name.i`.
 * @throws RevconvertError CHANGEGROUP_MALFORMED where that is no name that a tracked file or folder can have
 */
export function storeNameOf(group: Group): BytePath {
  const { kind, name } = group;
  if (kind === 'changelog') return '00changelog.i';
  if (kind === 'manifest' && name === '') return '00manifest.i';
  const path = kind === 'manifest' ? name.slice(0, -1) : name;
  if (UNFIT.test(path)) throw new RevconvertError('CHANGEGROUP_MALFORMED', `${JSON.stringify(name)} is no name of a tracked ${kind === 'manifest' ? 'folder' : 'file'}`, { group: groupName(group) });
  return kind === 'manifest' ? `meta/${name}00manifest.i` : `data/${name}.i`;
}
