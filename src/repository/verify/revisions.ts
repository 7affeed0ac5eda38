import { NODE_WORDS, wordsToHex } from '../../formats/hex-node.js';
import { viewOf } from '../../formats/revlog-index.js';

const FIRST_CAPACITY = 1 << 12;

const NAMED = 1;
const DUPLICATE = 2;

/** Every revision of every revlog by its node: 33 bytes a revision, in typed arrays, whatever there are of them. */
export class RevisionTable {
  #count = 0;
  #words = new Int32Array(FIRST_CAPACITY * NODE_WORDS);
  #linkRevs = new Int32Array(FIRST_CAPACITY);
  #owners = new Int32Array(FIRST_CAPACITY);
  #named = new Uint8Array(FIRST_CAPACITY);
  /** 1 more than the place of a revision, by a hash of its node; 0: free. */
  #slots = new Int32Array(FIRST_CAPACITY * 4);
  readonly #aliases = new Map<string, number>();
  readonly #starts = new Map<number, { readonly start: number; readonly count: number }>();

  /**
   * Takes in the revisions of a revlog.
   * @param nodes 20 bytes a revision
   * @param onDuplicate called where an earlier revision of it has the same node
   */
  add(owner: number, nodes: Uint8Array, linkRevs: Int32Array, onDuplicate: (rev: number, first: number) => void): void {
    const start = this.#count;
    const count = linkRevs.length;
    this.#reserve(start + count);
    const view = viewOf(nodes);
    for (let at = 0; at < count * NODE_WORDS; at++) this.#words[start * NODE_WORDS + at] = view.getInt32(at * 4);
    this.#linkRevs.set(linkRevs, start);
    this.#owners.fill(owner, start, start + count);
    this.#starts.set(owner, { start, count });
    this.#count += count;
    for (let place = start; place < this.#count; place++) {
      const first = this.find(owner, this.#words, place * NODE_WORDS);
      if (first >= 0) {
        this.#named[place] = DUPLICATE;
        onDuplicate(place - start, first - start);
      }
      if (first < 0) this.#enter(place);
    }
  }

  /** Whether anything is known of the revisions of a revlog. */
  has(owner: number): boolean {
    return this.#starts.has(owner);
  }

  /** Revisions of a revlog. */
  countOf(owner: number): number {
    return this.#starts.get(owner)?.count ?? 0;
  }

  /** The place of the first revision of a revlog; the others follow. */
  startOf(owner: number): number {
    return this.#starts.get(owner)?.start ?? 0;
  }

  /**
   * The place of a revision; -1: there is none.
   * @param words five numbers from `at` on are the node
   */
  find(owner: number, words: Int32Array, at: number): number {
    const own = this.#words;
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(owner, words, at) & mask; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] ?? 0) - 1;
      if (place < 0) return -1;
      if (this.#owners[place] !== owner) continue;
      const other = place * NODE_WORDS;
      let word = 0;
      while (word < NODE_WORDS && own[other + word] === words[at + word]) word++;
      if (word === NODE_WORDS) return place;
    }
  }

  /** Makes a revision known by the hash that it has in truth, too. */
  addAlias(owner: number, rev: number, node: string): void {
    this.#aliases.set(`${owner} ${node}`, this.startOf(owner) + rev);
  }

  /** The place of a revision by its node or by its true hash, for when all are known; -1: there is none. */
  findAny(owner: number, words: Int32Array, at: number): number {
    const place = this.find(owner, words, at);
    if (place >= 0 || this.#aliases.size === 0) return place;
    return this.#aliases.get(`${owner} ${wordsToHex(words, at)}`) ?? -1;
  }

  linkRevAt(place: number): number {
    return this.#linkRevs[place] ?? -1;
  }

  /** Remembers that something names a revision. */
  nameAt(place: number): void {
    this.#named[place] = NAMED;
  }

  /** Whether an earlier revision of its revlog has the same node: it cannot be named. */
  isDuplicate(place: number): boolean {
    return this.#named[place] === DUPLICATE;
  }

  isNamed(place: number): boolean {
    return this.#named[place] === NAMED;
  }

  #enter(place: number): void {
    const mask = this.#slots.length - 1;
    let slot = hashOf(this.#owners[place] ?? 0, this.#words, place * NODE_WORDS) & mask;
    while ((this.#slots[slot] ?? 0) !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = place + 1;
  }

  #reserve(count: number): void {
    let capacity = this.#linkRevs.length;
    if (count <= capacity) return;
    while (capacity < count) capacity *= 2;
    this.#words = larger(this.#words, capacity * NODE_WORDS);
    this.#linkRevs = larger(this.#linkRevs, capacity);
    this.#owners = larger(this.#owners, capacity);
    const named = new Uint8Array(capacity);
    named.set(this.#named);
    this.#named = named;
    const entered = this.#slots;
    this.#slots = new Int32Array(capacity * 2);
    for (const slot of entered) if (slot > 0) this.#enter(slot - 1);
  }
}

function larger(ints: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const made = new Int32Array(length);
  made.set(ints);
  return made;
}

const hashOf = (owner: number, words: Int32Array, at: number): number => ((words[at] ?? 0) ^ Math.imul(owner + 1, 0x9e3779b1)) >>> 0;
