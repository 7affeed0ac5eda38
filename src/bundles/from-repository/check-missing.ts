import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { RevconvertError } from '../../errors.js';
import { encodeDirectories } from '../../formats/store-path.js';
import { displayName } from '../../repository/byte-path.js';
import type { Discovery } from '../../repository/discover.js';
import type { Repository } from '../../repository/open.js';
import { readChangesets } from './changeset-texts.js';
import type { Selection } from './selection.js';
import { isSent } from './selection.js';

export interface MissingCheck {
  readonly repository: Repository;
  readonly discovery: Discovery;
  readonly selection: Selection;
  /** Asked for only where something is missing. */
  readonly decoders: () => Promise<ChunkDecoders>;
}

/**
 * A revlog that the store lists and does not have is no loss where no changeset names its file, as after a strip.
 * @throws RevconvertError REVLOG_MISSING where a changeset that is sent does; damage of the changelog
 */
export async function checkMissing({ repository, discovery, selection, decoders }: MissingCheck): Promise<void> {
  const { revlogs, missing } = discovery;
  if (revlogs.some(({ kind }) => kind === 'filelog') && !revlogs.some(({ name }) => name === '00manifest.i')) throw isMissing('00manifest.i', 'there are files, and no manifest');
  // Data files are missed when they are read.
  const names = new Set(missing.filter((name) => name.endsWith('.i')));
  if (names.size === 0) return;
  for await (const { rev, files } of readChangesets(repository, selection.last + 1, await decoders())) {
    const name = files.map((file) => `data/${file}.i`).find((one) => names.has(encodeDirectories(one)));
    if (name !== undefined && isSent(selection, rev)) throw isMissing(name, `changeset ${rev} lists the file, and the store has no revisions of it`);
  }
}

const isMissing = (name: string, message: string): RevconvertError => new RevconvertError('REVLOG_MISSING', message, { path: displayName(name) });
