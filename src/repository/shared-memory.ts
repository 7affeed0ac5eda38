/** Memory that all threads see: what is in it is not copied on the way from one to another. */
export const sharedMemory = (bytes: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(bytes));

/** The same bytes in such memory: an index is sent with every range of its revlog. */
export function shareBytes(bytes: Uint8Array): Uint8Array {
  const shared = sharedMemory(bytes.length);
  shared.set(bytes);
  return shared;
}
