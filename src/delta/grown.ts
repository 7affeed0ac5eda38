/** Memory that is used again. */
export type Numbers = Int32Array<ArrayBuffer>;

/** The array, or a larger one that begins with the same numbers, where it does not hold as many as are needed. */
export function grown(array: Numbers, needed: number): Numbers {
  if (array.length >= needed) return array;
  const larger = new Int32Array(Math.max(needed, 2 * array.length, 256));
  larger.set(array);
  return larger;
}
