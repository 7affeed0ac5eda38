import { RevconvertError } from '../../errors.js';
import { CHUNK_HEADER } from '../../formats/bundle/changegroup.js';
import type { ChangegroupRevision, GroupChunks } from '../../formats/bundle/items.js';
import { parseRevision } from '../../formats/bundle/parse-revision.js';
import { asBuffer } from '../../formats/bytes.js';
import { ByteFeed } from './byte-feed.js';
import type { BundleStage } from './stage.js';

/**
 * Makes records of chunks, for stages that look at revisions.
 * @throws (the stage) RevconvertError INTERNAL where chunks are not whole
 */
export function parseChunks(): BundleStage {
  /** Of version 01: the node before, in the group that is open. */
  let previous: Uint8Array | undefined;
  return (item) => {
    if (item.type === 'group') previous = undefined;
    if (item.type !== 'chunks') return item;
    const revisions = recordsOf(item, previous);
    previous = revisions.at(-1)?.node ?? previous;
    return { type: 'revisions', group: item.group, revisions };
  };
}

function recordsOf({ bytes, version }: GroupChunks, before: Uint8Array | undefined): ChangegroupRevision[] {
  if (version === '04') throw new RevconvertError('INTERNAL', 'chunks of version 04 are records from the start');
  const feed = new ByteFeed();
  for (const piece of bytes) feed.push(asBuffer(piece));
  const revisions: ChangegroupRevision[] = [];
  let previous = before;
  while (feed.available > 0) {
    const chunk = feed.take(Math.max(feed.peekInt32() ?? 0, CHUNK_HEADER));
    if (chunk === undefined) throw new RevconvertError('INTERNAL', 'a chunk that is not whole');
    const revision = parseRevision(chunk, version, previous, -1);
    previous = revision.node;
    revisions.push(revision);
  }
  return revisions;
}
