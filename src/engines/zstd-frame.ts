/**
 * The zstd frame, as far as it can be read without decompressing it.
 *
 *     bytes          field                     range and meaning (RFC 8878, 3.1.1)
 *     4              Magic_Number              28 b5 2f fd
 *     1              Frame_Header_Descriptor   bits 7-6  Frame_Content_Size_flag: see below
 *                                              bit 5     Single_Segment_flag: no window descriptor
 *                                              bit 4     unused
 *                                              bit 3     reserved, 0
 *                                              bit 2     Content_Checksum_flag
 *                                              bits 1-0  Dictionary_ID_flag: 0, 1, 2 or 4 bytes
 *     0 or 1         Window_Descriptor         bits 7-3 exponent, bits 2-0 mantissa:
 *                                              2^(10 + exponent) * (1 + mantissa / 8)
 *     0, 1, 2, 4     Dictionary_ID             little-endian; 0 or absent: none
 *     0, 1, 2, 4, 8  Frame_Content_Size        little-endian; flag 0: 1 byte where single segment, else absent;
 *                                              flag 1: 2 bytes, plus 256; flag 2: 4 bytes; flag 3: 8 bytes
 *     3 + n          blocks                    header, little-endian 24 bits: bit 0 last, bits 2-1 type
 *                                              (0 raw, 1 RLE, 2 compressed, 3 reserved), bits 23-3 size;
 *                                              n = size, or 1 for RLE, whose size is that of its output
 *     0 or 4         Content_Checksum          low 32 bits of XXH64, little-endian
 *
 * Where a single segment holds everything, the window is the content size. A block holds at most
 * min(window, 128 KiB), so 4 bytes (an RLE block) can become 128 KiB.
 */

import type { DecodeFault } from './engine.js';
import { damaged } from './faults.js';

export const ZSTD_MAGIC = 0xfd2fb528;
/** The largest window, in bytes, that zstd decoders (Mercurial's among them) accept unless told otherwise. */
export const MAX_WINDOW_BYTES = 2 ** 27;
/** The most bytes that one block decompresses to. */
export const MAX_BLOCK_BYTES = 128 * 1024;

export interface FrameHeader {
  /** Bytes up to the first block. */
  readonly headerBytes: number;
  /** What the frame says that it decompresses to. Not proven by anything. Over 2^53 it is rounded. */
  readonly contentSize: number | undefined;
  /** Bytes of window that a decoder needs. */
  readonly windowBytes: number;
  /** 0: none. */
  readonly dictionaryId: number;
  readonly checksum: boolean;
}

export interface FrameExtent {
  /** Where the frame ends: the offset of the first byte that is not part of it. */
  readonly end: number;
  /** The fewest and most bytes that the blocks can decompress to. */
  readonly minContent: number;
  readonly maxContent: number;
}

const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const HAS_CHECKSUM = 0x04;
const RESERVED_BIT = 0x08;
const SINGLE_SEGMENT = 0x20;
const DICTIONARY_ID_FLAG = 0x03;

/** Little-endian, unsigned, of 0 to 8 bytes; bytes beyond the end count as 0. */
function readUintLE(bytes: Uint8Array, offset: number, length: number): number {
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + (bytes[offset + i] ?? 0);
  return value;
}

/** The longest frame header, in bytes. */
export const MAX_FRAME_HEADER = 18;

/** Bytes of the header of a frame, of which at least the first 5 are given. */
export function frameHeaderBytes(frame: Uint8Array): number {
  const { idOffset, idBytes, sizeBytes } = headerLayout(frame[4] ?? 0);
  return idOffset + idBytes + sizeBytes;
}

/** Where the fields of a frame header stand, by its descriptor. */
function headerLayout(descriptor: number): { readonly singleSegment: boolean; readonly idOffset: number; readonly idBytes: number; readonly sizeBytes: number } {
  const singleSegment = (descriptor & SINGLE_SEGMENT) !== 0;
  const sizeFlag = descriptor >> 6;
  return {
    singleSegment,
    idOffset: singleSegment ? 5 : 6,
    idBytes: DICTIONARY_ID_BYTES[descriptor & DICTIONARY_ID_FLAG] ?? 0,
    sizeBytes: sizeFlag === 0 && singleSegment ? 1 : (CONTENT_SIZE_BYTES[sizeFlag] ?? 0),
  };
}

/**
 * Reads a frame header. A frame that needs a larger window than is allowed is a fault, as it is for Mercurial.
 * @param frame starts with the frame
 * @param maxWindow in bytes
 * @returns the header, or a CHUNK_DAMAGED fault that says what was found
 */
export function readFrameHeader(frame: Uint8Array, maxWindow = MAX_WINDOW_BYTES): FrameHeader | DecodeFault {
  if (frame.length < 5) return damaged('zstd', `${frame.length} bytes are too few for a frame header`);
  const magic = readUintLE(frame, 0, 4);
  if (magic !== ZSTD_MAGIC) {
    return damaged('zstd', `magic number is 0x${magic.toString(16)}, expected 0x${ZSTD_MAGIC.toString(16)}`);
  }
  const descriptor = frame[4] ?? 0;
  if ((descriptor & RESERVED_BIT) !== 0) return damaged('zstd', 'the reserved bit of the frame header is set');
  const { singleSegment, idOffset, idBytes, sizeBytes } = headerLayout(descriptor);
  const headerBytes = idOffset + idBytes + sizeBytes;
  if (frame.length < headerBytes) {
    return damaged('zstd', `frame header takes ${headerBytes} bytes, found ${frame.length}`);
  }
  const dictionaryId = idBytes === 0 ? 0 : readUintLE(frame, idOffset, idBytes);
  const contentSize =
    sizeBytes === 0
      ? undefined
      : readUintLE(frame, idOffset + idBytes, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
  const windowBytes = singleSegment ? (contentSize ?? 0) : windowOf(frame[5] ?? 0);
  if (windowBytes > maxWindow) {
    return damaged('zstd', `frame needs a window of ${windowBytes} bytes, at most ${maxWindow} are accepted`);
  }
  return { headerBytes, contentSize, windowBytes, dictionaryId, checksum: (descriptor & HAS_CHECKSUM) !== 0 };
}

const FIRST_MAGIC_BYTE = ZSTD_MAGIC & 0xff;

/** The dictionary's ID lies within so many bytes from the start of a frame. */
export const DICTIONARY_ID_END = 10;

/** The ID of the dictionary that a chunk, of which the first bytes are enough, names; 0: none, or it is no zstd frame. */
export function dictionaryIdOf(chunk: Uint8Array): number {
  const descriptor = chunk[4];
  if (chunk[0] !== FIRST_MAGIC_BYTE || descriptor === undefined || (descriptor & DICTIONARY_ID_FLAG) === 0) return 0;
  if (readUintLE(chunk, 0, 4) !== ZSTD_MAGIC) return 0;
  return readUintLE(chunk, (descriptor & SINGLE_SEGMENT) === 0 ? 6 : 5, DICTIONARY_ID_BYTES[descriptor & DICTIONARY_ID_FLAG] ?? 0);
}

const windowOf = (descriptor: number): number => (2 ** (10 + (descriptor >> 3)) * (8 + (descriptor & 7))) / 8;

/**
 * Walks the blocks of a frame, decompressing nothing.
 * @param frame starts with the frame; bytes after its end are ignored
 * @param header of that frame
 * @returns its extent, or a CHUNK_DAMAGED fault where it is truncated, or the blocks cannot be what the header says
 */
export function measureFrame(frame: Uint8Array, header: FrameHeader): FrameExtent | DecodeFault {
  const maxBlock = Math.min(header.windowBytes, MAX_BLOCK_BYTES);
  let offset = header.headerBytes;
  let minContent = 0;
  let maxContent = 0;
  for (let last = false; !last; ) {
    if (offset + 3 > frame.length) return damaged('zstd', `truncated: a block header is missing at byte ${offset}`);
    const word = readUintLE(frame, offset, 3);
    const type = (word >> 1) & 3;
    const size = word >> 3;
    if (type === 3) return damaged('zstd', `block at byte ${offset} has the reserved type`);
    if (size > maxBlock) return damaged('zstd', `block at byte ${offset} has size ${size}, at most ${maxBlock}`);
    last = (word & 1) !== 0;
    offset += 3 + (type === 1 ? 1 : size);
    if (type === 2) {
      maxContent += maxBlock;
    } else {
      minContent += size;
      maxContent += size;
    }
  }
  const end = offset + (header.checksum ? 4 : 0);
  if (end > frame.length) return damaged('zstd', `truncated: frame takes ${end} bytes, found ${frame.length}`);
  const { contentSize } = header;
  if (contentSize !== undefined && (contentSize > maxContent || contentSize < minContent)) {
    return damaged('zstd', `frame says ${contentSize} bytes, its blocks hold ${minContent} to ${maxContent}`);
  }
  return { end, minContent, maxContent };
}

/**
 * The same frame with its content size in the header, for compressors that leave it out. Where the content fits
 * the window it becomes a single segment, as it is when Mercurial writes it.
 * @param frame one whole frame without dictionary
 * @param header of that frame
 * @param contentSize what it decompresses to: 0..2^32-1 bytes
 * @returns a new frame; the given one where it already has a content size
 */
export function withContentSize(frame: Uint8Array, header: FrameHeader, contentSize: number): Uint8Array {
  if (header.contentSize !== undefined) return frame;
  const singleSegment = contentSize <= header.windowBytes;
  let sizeFlag: 0 | 1 | 2 = 2;
  if (contentSize < 256 && singleSegment) sizeFlag = 0;
  else if (contentSize >= 256 && contentSize < 65_536 + 256) sizeFlag = 1;
  const sizeBytes = sizeFlag === 0 ? 1 : sizeFlag * 2;
  const sizeOffset = singleSegment ? 5 : 6;
  const result = new Uint8Array(sizeOffset + sizeBytes + frame.length - header.headerBytes);
  result.set(frame.subarray(0, 4));
  result[4] = (sizeFlag << 6) | (singleSegment ? SINGLE_SEGMENT : 0) | (header.checksum ? HAS_CHECKSUM : 0);
  if (!singleSegment) result[5] = frame[5] ?? 0;
  let rest = sizeFlag === 1 ? contentSize - 256 : contentSize;
  for (let i = 0; i < sizeBytes; i++) {
    result[sizeOffset + i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  result.set(frame.subarray(header.headerBytes), sizeOffset + sizeBytes);
  return result;
}
