import { NULL_NODE } from '../../delta/node-hash.js';
import type { ChunkDecoders } from '../../engines/chunk-codec.js';
import { decodeChunks, loadDecoders } from '../../engines/chunk-codec.js';
import { DecodeFault } from '../../engines/engine.js';
import { RevconvertError } from '../../errors.js';
import { CHUNK_HEADER, NODE, REVISION_HEADER } from '../../formats/bundle/changegroup.js';
import type { ChangegroupRevision } from '../../formats/bundle/items.js';
import { fullReplacement, MAX_TEXT } from '../../formats/hunks.js';
import type { ParserContext, Parsing } from './parser.js';
import { errorHere } from './parser.js';

/**
 * A revision of version 04, as Mercurial 7.2 writes it (tried):
 *
 *       4  node p1 p2 base linknode
 *     104  u16 flags, as in a revlog of Mercurial 7.1 and later
 *     106  i8  snapshot level
 *     107  u32 length of the full text
 *     111  u8  compression of what follows the header: 0 none, 1 none (a raw chunk without its 'u'), 2 zlib, 3 zstd: the chunk as stored
 *     112  u8  protocol flags: bit 1: a full text, no delta
 *     113  base in the sender's revlog, i8 snapshot level there
 *     134  the data
 */
const FIELDS = CHUNK_HEADER;
const LINK = FIELDS + 4 * NODE;
const FLAGS = FIELDS + 5 * NODE;
const FULL_SIZE = FLAGS + 3;
const COMPRESSION = FULL_SIZE + 4;
const PROTOCOL_FLAGS = COMPRESSION + 1;
const DATA = CHUNK_HEADER + REVISION_HEADER['04'];

const IS_FULL_TEXT = 2;

/** Whether the first revision of a changelog, called 04, is in the form that was released: of a changeset the linknode is the node. */
export const isReleased04 = (chunk: Buffer): boolean => chunk.length >= DATA && chunk.compare(chunk, LINK, LINK + NODE, FIELDS, FIELDS + NODE) === 0;

/** Reads a revision of version 04; a full text becomes a replacement of the empty text. @throws RevconvertError CHANGEGROUP_MALFORMED, CHUNK_DAMAGED, CHUNK_SIZE, ENGINE_MISSING */
export function* parseRevision04(context: ParserContext, chunk: Buffer, offset: number): Parsing<ChangegroupRevision> {
  if (chunk.length < DATA) throw errorHere(context, 'CHANGEGROUP_MALFORMED', `a chunk of ${chunk.length} bytes is too short for the header of a revision in version 04`);
  const node = (index: number): Buffer => chunk.subarray(FIELDS + index * NODE, FIELDS + (index + 1) * NODE);
  const isFullText = ((chunk[PROTOCOL_FLAGS] ?? 0) & IS_FULL_TEXT) !== 0;
  const fullSize = chunk.readUInt32BE(FULL_SIZE);
  const data = yield* decode(context, chunk, isFullText ? Math.min(fullSize, MAX_TEXT) : MAX_TEXT, offset);
  if (isFullText && data.length !== fullSize) throw errorHere(context, 'CHUNK_SIZE', `a full text of ${data.length} bytes, the header says ${fullSize}`);
  return {
    node: node(0),
    p1: node(1),
    p2: node(2),
    base: isFullText ? NULL_NODE : node(3),
    linkNode: node(4),
    flags: chunk.readUInt16BE(FLAGS),
    delta: isFullText ? fullReplacement(data) : data,
    offset,
  };
}

const COMPRESSED = [2, 3];
const RAW = [0, 1];

function* decode(context: ParserContext, chunk: Buffer, limit: number, offset: number): Parsing<Uint8Array> {
  const compression = chunk[COMPRESSION] ?? 0;
  const data = chunk.subarray(DATA);
  if (RAW.includes(compression)) return data;
  if (!COMPRESSED.includes(compression)) throw errorHere(context, 'CHANGEGROUP_MALFORMED', `unknown compression ${compression} of a revision`);
  const decoders = (yield loadOnce()) as ChunkDecoders;
  const [decoded] = (yield Promise.resolve(decodeChunks([data], [limit], decoders))) as (Uint8Array | DecodeFault)[];
  if (decoded !== undefined && !(decoded instanceof DecodeFault)) return decoded;
  throw new RevconvertError(decoded?.code ?? 'CHUNK_DAMAGED', decoded?.message ?? 'the chunk is missing', { ...context.place, offset });
}

let decoders: Promise<ChunkDecoders> | undefined;

const loadOnce = (): Promise<ChunkDecoders> => (decoders ??= loadDecoders());
