/** xorshift32: the same numbers on every run. @returns gives a whole number from 0 up to but not including `below` */
export function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
