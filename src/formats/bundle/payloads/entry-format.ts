/** How the entries are laid out that the payload of a part is made of, one behind the other. */
export interface EntryFormat<T> {
  /** Bytes at the beginning of an entry that say how long it is. */
  readonly headBytes: number;
  /**
   * @param head `headBytes` bytes
   * @returns the length of the entry, the head included; more than {@link MAX_ENTRY}, or less than the head: it is malformed
   */
  readonly lengthOf: (head: Buffer) => number;
  /** @returns what the entry says; a text: what is wrong with it */
  readonly decode: (entry: Buffer) => T | string;
}

/** Bytes of an entry, at most: a branch of twelve million changesets. */
export const MAX_ENTRY = 1 << 28;

/** Entries of one length. */
export const fixedEntries = <T>(bytes: number, decode: (entry: Buffer) => T): EntryFormat<T> => ({ headBytes: bytes, lengthOf: () => bytes, decode });

/** The node that stands at `at`, as 40 digits. */
export const hexNode = (bytes: Buffer, at: number, length = 20): string => bytes.toString('hex', at, at + length);
