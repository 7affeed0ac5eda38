import { RevconvertError } from '../../errors.js';
import { endOfLine } from '../../formats/changeset-text.js';
import { HEX_NODE } from '../../formats/hex-node.js';
import type { BranchColumn } from './tasks.js';

const SPACE = 0x20;
const DEFAULT_BRANCH = 'default';

/** Gathers the branches of changesets from their texts. */
export class BranchCollector {
  readonly #places = new Map<string, number>();
  readonly #entries: number[] = [];

  /** @throws RevconvertError TEXT_MALFORMED where the text is no changeset's */
  add(rev: number, text: Buffer): void {
    const extra = extraOf(rev, text);
    const { branch, closes } = extra === '' ? PLAIN : branchOf(extra);
    let place = this.#places.get(branch);
    if (place === undefined) {
      place = this.#places.size;
      this.#places.set(branch, place);
    }
    this.#entries.push(rev, 2 * place + (closes ? 1 : 0));
  }

  finish(): BranchColumn {
    return { names: [...this.#places.keys()], entries: Int32Array.from(this.#entries) };
  }
}

const PLAIN = { branch: DEFAULT_BRANCH, closes: false };

/** What stands behind the date: pairs of a key and a value. One character a byte. */
function extraOf(rev: number, text: Buffer): string {
  if (text.length === 0) return '';
  const dateStart = endOfLine(text, HEX_NODE + 1) + 1;
  const dateEnd = endOfLine(text, dateStart);
  if (dateEnd >= text.length) throw new RevconvertError('TEXT_MALFORMED', 'the line of the date is missing', { path: '00changelog.i', rev });
  const zone = text.indexOf(SPACE, dateStart);
  const extra = zone < 0 || zone > dateEnd ? -1 : text.indexOf(SPACE, zone + 1);
  return extra < 0 || extra > dateEnd ? '' : text.toString('latin1', extra + 1, dateEnd);
}

const ESCAPES: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r', '\\0': '\0' };

/** Pairs are divided by NUL; a backslash escapes itself, line ends and NUL (source: Mercurial 6.3 and 7.2, tried). */
function branchOf(extra: string): { readonly branch: string; readonly closes: boolean } {
  let branch = DEFAULT_BRANCH;
  let closes = false;
  for (const pair of extra.split('\0')) {
    const plain = pair.includes('\\') ? pair.replace(/\\[\\nr0]/g, (escape) => ESCAPES[escape] ?? escape) : pair;
    if (plain.startsWith('branch:')) branch = plain.slice('branch:'.length);
    else if (plain.startsWith('close:')) closes = true;
  }
  return { branch, closes };
}
