/** Damage by chance, the same in every run: a seeded generator, and what it does to a file. */

/** A small generator of pseudo-random numbers (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 up to but not including `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000) * limit);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}

/** Values at which arithmetic goes wrong. */
const EXTREMES = [0, 1, -1, -2, 2, 63, 64, 0x7f, 0xff, 0x7fff, 0xffff, 0x10000, 0x00ffffff, 0x7fffffff, 0x7ffffffe, -0x80000000, 0x00010001, 0x00030001, 0x0000dead];
const MARKERS = [0x00, 0x28, 0x34, 0x75, 0x78, 0xff];

/** A change to a file, in place or as a new one, and what it was for a message. */
interface Change {
  readonly bytes: Buffer;
  readonly what: string;
}

type Mutation = (bytes: Buffer, chance: Chance) => Change;

function overwrite(bytes: Buffer, at: number, value: Uint8Array, what: string): Change {
  const changed = Buffer.from(bytes);
  for (const [i, byte] of value.entries()) if (at + i < changed.length) changed[at + i] = byte;
  return { bytes: changed, what: `${what} at ${at}` };
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value | 0);
  return bytes;
}

const flipBit: Mutation = (bytes, chance) => {
  const at = chance.below(bytes.length);
  return overwrite(bytes, at, Buffer.of((bytes[at] ?? 0) ^ (1 << chance.below(8))), 'bit flipped');
};

const setByte: Mutation = (bytes, chance) => overwrite(bytes, chance.below(bytes.length), Buffer.of(chance.below(256)), 'byte set');

const setMarker: Mutation = (bytes, chance) => overwrite(bytes, chance.below(bytes.length), Buffer.of(chance.pick(MARKERS)), 'marker set');

const truncate: Mutation = (bytes, chance) => {
  const length = chance.below(bytes.length);
  return { bytes: bytes.subarray(0, length), what: `cut to ${length}` };
};

const insert: Mutation = (bytes, chance) => {
  const at = chance.below(bytes.length + 1);
  const more = Buffer.from(Array.from({ length: 1 + chance.below(80) }, () => chance.below(256)));
  return { bytes: Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]), what: `${more.length} bytes inserted at ${at}` };
};

const remove: Mutation = (bytes, chance) => {
  const at = chance.below(bytes.length);
  const length = 1 + chance.below(80);
  return { bytes: Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]), what: `${length} bytes removed at ${at}` };
};

/** An extreme number where a field of a split index would be: every fourth byte of an entry of 64. */
const setField: Mutation = (bytes, chance) => {
  const entries = Math.max(1, Math.floor(bytes.length / 64));
  const at = 64 * chance.below(entries) + 4 * chance.below(8);
  const value = chance.pick(EXTREMES);
  return overwrite(bytes, at, int32(value), `field ${value}`);
};

/** An extreme number anywhere: hits fields of inline and of version 0 entries. */
const setNumber: Mutation = (bytes, chance) => {
  const value = chance.pick(EXTREMES);
  return overwrite(bytes, chance.below(bytes.length), int32(value), `number ${value}`);
};

const copyPart: Mutation = (bytes, chance) => {
  const from = chance.below(bytes.length);
  const part = Buffer.from(bytes.subarray(from, from + 1 + chance.below(64)));
  return overwrite(bytes, chance.below(bytes.length), part, `${part.length} bytes of ${from} copied`);
};

const MUTATIONS: readonly Mutation[] = [flipBit, setByte, setMarker, truncate, insert, remove, setField, setField, setNumber, copyPart];

/** Changes a file in one to three ways. An empty file stays as it is. */
export function mutate(bytes: Buffer, chance: Chance): Change {
  let changed: Change = { bytes, what: 'nothing' };
  const ways: string[] = [];
  for (let left = 1 + chance.below(3); left > 0 && changed.bytes.length > 0; left--) {
    changed = chance.pick(MUTATIONS)(changed.bytes, chance);
    ways.push(changed.what);
  }
  return { bytes: changed.bytes, what: ways.join(', ') };
}
