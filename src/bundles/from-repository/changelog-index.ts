import { existsSync } from 'node:fs';

import { RevlogIndex } from '../../formats/revlog-index.js';
import type { Repository } from '../../repository/open.js';
import { shareBytes } from '../../repository/shared-memory.js';
import { openRevlog } from '../../streams/read-revlog.js';

/**
 * Reads the index of the changelog; it is empty where there is none.
 * @returns its table in shared memory
 * @throws RevconvertError as openRevlog
 */
export function readChangelogIndex({ storeFolder }: Pick<Repository, 'storeFolder'>): RevlogIndex {
  const indexFile = `${storeFolder}/00changelog.i`;
  if (!existsSync(indexFile)) return new RevlogIndex({ version: 1, inline: false, generaldelta: false, filelogMeta: false, deltaInfo: false }, new Uint8Array(0));
  const reader = openRevlog({ indexFile, dataFile: `${storeFolder}/00changelog.d`, path: '00changelog.i', kind: 'changelog' });
  reader.close();
  return new RevlogIndex(reader.index.header, shareBytes(reader.index.table));
}
