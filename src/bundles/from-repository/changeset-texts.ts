import { createTextCache } from '../../delta/text-cache.js';
import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { RevconvertError } from '../../errors.js';
import { asBuffer } from '../../formats/bytes.js';
import { findChangesetFields } from '../../formats/changeset-text.js';
import { HEX_NODE } from '../../formats/hex-node.js';
import { FULL_TEXT } from '../../formats/record.js';
import type { Repository } from '../../repository/open.js';
import { batchEnd, openRevlog } from '../../streams/read-revlog.js';
import { readDeltas } from './delta-batch.js';
import { hexToNode } from './manifest-reader.js';
import { createTextReader } from './rebase.js';

/** What a changeset says of others. */
export interface ChangesetNames {
  readonly rev: number;
  /** 20 bytes, one character each; undefined: it has none. */
  readonly manifest: string | undefined;
  /** Files that it changes, one character a byte. */
  readonly files: readonly string[];
}

/**
 * Reads what changesets say, one after the other.
 * @param to the last is the one before
 * @throws RevconvertError as openRevlog and readChain; TEXT_MALFORMED
 */
export async function* readChangesets({ storeFolder }: Repository, to: number, decoders: ChunkDecoders): AsyncGenerator<ChangesetNames, void, void> {
  const path = '00changelog.i';
  const reader = openRevlog({ indexFile: `${storeFolder}/00changelog.i`, dataFile: `${storeFolder}/00changelog.d`, path, kind: 'changelog' });
  try {
    const textOf = createTextReader(reader.origin, { decoders, texts: createTextCache() });
    for (let start = 0; start < to; ) {
      const end = batchEnd(reader.index, start, to);
      const { bases, deltas } = await readDeltas(reader.origin, start, end, decoders);
      for (const [i, delta] of deltas.entries()) {
        const rev = start + i;
        yield namesOf(path, rev, bases[i] === FULL_TEXT ? asBuffer(delta) : await textOf(rev));
      }
      start = end;
    }
  } finally {
    reader.close();
  }
}

function namesOf(path: string, rev: number, text: Buffer): ChangesetNames {
  const fields = findChangesetFields(text);
  if (typeof fields === 'string') throw new RevconvertError('TEXT_MALFORMED', fields, { path, rev });
  const { manifestAt, filesStart, filesEnd } = fields;
  const manifest = manifestAt < 0 ? undefined : hexToNode(text.toString('latin1', manifestAt, manifestAt + HEX_NODE));
  const files = text.toString('latin1', filesStart, filesEnd).split('\n').filter((file) => file !== '');
  return { rev, manifest, files };
}
