/**
 * How far two texts are equal, found at the speed of a memory comparison: blocks are compared natively, each larger than
 * the one before, and the block that differs is halved until it is small enough to be walked.
 */

/** Blocks up to this many bytes are walked byte by byte: cheaper than a native call. */
const WALK = 32;

/** First block that is compared natively, in bytes. */
const FIRST_BLOCK = 512;

/** How much larger each block is than the one before. */
const GROWTH = 8;

/**
 * Bytes that two texts have in common from given positions on.
 * @param a one text
 * @param from where in it
 * @param b the other
 * @param at where in that
 * @param limit no more than this; both texts must have so many
 */
export function commonHead(a: Buffer, from: number, b: Buffer, at: number, limit: number): number {
  let done = 0;
  const first = limit < WALK ? limit : WALK;
  while (done < first && a[from + done] === b[at + done]) done++;
  if (done < first || done === limit) return done;
  let block = Math.min(FIRST_BLOCK, limit - done);
  while (block > 0 && a.compare(b, at + done, at + done + block, from + done, from + done + block) === 0) {
    done += block;
    block = Math.min(block * GROWTH, limit - done);
  }
  while (block > WALK) {
    const half = block >>> 1;
    if (a.compare(b, at + done, at + done + half, from + done, from + done + half) === 0) {
      done += half;
      block -= half;
    } else {
      block = half;
    }
  }
  const end = done + block;
  while (done < end && a[from + done] === b[at + done]) done++;
  return done;
}

/**
 * Bytes that two texts have in common up to given ends.
 * @param a one text
 * @param to end in it: the byte before is the first that is compared
 * @param b the other
 * @param end end in that
 * @param limit no more than this; both texts must have so many before these ends
 */
export function commonTail(a: Buffer, to: number, b: Buffer, end: number, limit: number): number {
  let done = 0;
  const first = limit < WALK ? limit : WALK;
  while (done < first && a[to - 1 - done] === b[end - 1 - done]) done++;
  if (done < first || done === limit) return done;
  let block = Math.min(FIRST_BLOCK, limit - done);
  while (block > 0 && a.compare(b, end - done - block, end - done, to - done - block, to - done) === 0) {
    done += block;
    block = Math.min(block * GROWTH, limit - done);
  }
  while (block > WALK) {
    const half = block >>> 1;
    if (a.compare(b, end - done - half, end - done, to - done - half, to - done) === 0) {
      done += half;
      block -= half;
    } else {
      block = half;
    }
  }
  const most = done + block;
  while (done < most && a[to - 1 - done] === b[end - 1 - done]) done++;
  return done;
}

/** Whether two stretches of the same length are equal. */
export function sameBytes(a: Buffer, from: number, b: Buffer, at: number, length: number): boolean {
  if (length > WALK) return a.compare(b, at, at + length, from, from + length) === 0;
  for (let i = 0; i < length; i++) {
    if (a[from + i] !== b[at + i]) return false;
  }
  return true;
}
