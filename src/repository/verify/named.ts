import { NODE_WORDS, wordsToHex } from '../../formats/hex-node.js';
import type { BytePath } from '../../formats/store-path.js';
import { displayName } from '../byte-path.js';
import type { CrossFindings, History, KnownRevlog } from './history.js';
import { filelogOf, findRevlog, manifestOf } from './history.js';
import { splitNames } from './names.js';
import { REFERENCE_NODE } from './references.js';
import type { References } from './tasks.js';
import { REFERENCE_INTS } from './tasks.js';

type Known = Pick<History, 'revlogs' | 'byName' | 'table' | 'broken' | 'isInside'> & { readonly named: Set<number> };

/** A name that leads nowhere, and where it stands first. */
interface Lost {
  readonly revlog: KnownRevlog;
  readonly rev: number;
  readonly name: BytePath;
  readonly node: string;
  readonly words: Int32Array;
  readonly isCopy: boolean;
  readonly isGone: boolean;
}

const SHORT = 12;

/** Follows what manifests and copies name. Every revlog has to be known before the first is taken. */
export class NameCheck {
  readonly #lost = new Map<string, Lost>();

  constructor(private readonly known: Known) {}

  /** @param ids the revlogs of the task that the references come from, by part */
  take({ names, entries }: References, ids: readonly number[]): void {
    const found = splitNames(names).map((tagged) => this.#target(tagged));
    for (let at = 0; at < entries.length; at += REFERENCE_INTS) {
      const target = found[entries[at] ?? 0];
      const revlog = this.known.revlogs[ids[entries[at + 1] ?? 0] ?? -1];
      if (target === undefined || revlog === undefined || target.isOutside) continue;
      this.#follow(target, revlog, entries, at);
    }
  }

  /**
   * Reports what leads nowhere.
   * @param isCut history was cut away: what was copied from may be what is gone
   */
  finish(findings: CrossFindings, isCut: boolean): void {
    for (const { revlog, rev, name, node, words, isCopy, isGone } of this.#lost.values()) {
      if (this.#isAlias(name, words, isCopy) || (isCopy && isCut)) continue;
      const [short, shown] = [node.slice(0, SHORT), displayName(name)];
      const at = { path: revlog.name, rev };
      if (isCopy) findings.fault('COPY_SOURCE', `copied from ${short} of ${shown}, which is not there`, at);
      else if (isGone) findings.fault('REVLOG_MISSING', `missing or empty; manifests name revisions of it, the first of them ${revlog.name}, rev ${rev}`, { path: shown });
      else findings.fault('REVISION_MISSING', `names ${short} of ${shown}, which has no such revision`, at);
    }
  }

  /** Names of revlogs that manifests name, and that are not there. */
  get gone(): Set<BytePath> {
    return new Set([...this.#lost.values()].filter(({ isGone }) => isGone).map(({ name }) => name));
  }

  #target(tagged: string): { readonly name: BytePath; readonly id: number | undefined; readonly isOutside: boolean } {
    const path = tagged.slice(1);
    const isFile = tagged.startsWith('f');
    const name = isFile ? filelogOf(path) : manifestOf(path);
    const id = findRevlog(this.known, name);
    const isOutside = id === undefined && !this.known.isInside(isFile ? path : `${path}/`);
    return { name, id, isOutside };
  }

  #follow({ name, id }: { readonly name: BytePath; readonly id: number | undefined }, revlog: KnownRevlog, entries: Int32Array, at: number): void {
    const { table, broken, named } = this.known;
    const isCopy = revlog.source.kind === 'filelog';
    const rev = entries[at + 2] ?? 0;
    if (id !== undefined && !isCopy) named.add(id);
    if (id !== undefined && broken.has(id)) return;
    const place = id === undefined ? -1 : table.find(id, entries, at + REFERENCE_NODE);
    if (place >= 0 && !isCopy) table.nameAt(place);
    if (place >= 0 || rev < 0) return;
    const words = entries.slice(at + REFERENCE_NODE, at + REFERENCE_NODE + NODE_WORDS);
    this.#lose({ revlog, rev, name, node: wordsToHex(words), words, isCopy, isGone: id === undefined && !isCopy });
  }

  #lose(lost: Lost): void {
    const key = lost.isCopy ? `copy ${lost.revlog.id} ${lost.rev}` : lost.isGone ? `gone ${lost.name}` : `${lost.node} ${lost.name}`;
    const before = this.#lost.get(key);
    // Parts come in any order: the first revision is what is reported.
    const isEarlier = before === undefined || lost.revlog.name < before.revlog.name || (lost.revlog === before.revlog && lost.rev < before.rev);
    if (isEarlier) this.#lost.set(key, lost);
  }

  /** Whether what is named is there, and has another node in its index than it should. */
  #isAlias(name: BytePath, words: Int32Array, isCopy: boolean): boolean {
    const { table } = this.known;
    const id = findRevlog(this.known, name);
    const place = id === undefined ? -1 : table.findAny(id, words, 0);
    if (place >= 0 && !isCopy) table.nameAt(place);
    return place >= 0;
  }
}
