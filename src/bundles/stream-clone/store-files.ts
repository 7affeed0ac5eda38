import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';

import { RevconvertError, toRevconvertError } from '../../errors.js';
import type { StreamEntry } from '../../formats/bundle/stream-clone.js';
import type { BytePath } from '../../formats/store-path.js';
import { encodeDirectories, encodeStorePath } from '../../formats/store-path.js';
import { below, folderOf } from '../../repository/byte-path.js';
import { findRule } from '../../repository/file-rules.js';
import { streamFileName } from './list-store.js';

const REVLOG_FILE = /^(?:data|meta)\/.*\.[id]$/s;

/** Look-up tables: of no use to a store that does not require them. */
const NODEMAP = /^00(?:changelog|manifest)(?:\.n|-[^/]*\.nd)$/;

/**
 * Writes the files of a stream clone below a new `.hg`, one after the other, by names that they give: each leads into the
 * store or the cache, and none is written twice.
 */
export class StoreFiles {
  /** Lines of the fncache to be. */
  readonly fncache: BytePath[] = [];
  /** Files that were written, and their bytes. */
  files = 0;
  bytes = 0;
  /** Names that were left out. */
  readonly leftOut: BytePath[] = [];
  readonly #folders = new Set<BytePath>();
  readonly #names = new Set<BytePath>();
  #descriptor: number | undefined;
  #name = '';
  #left = 0;

  /** @param hg the folder `.hg` to be, which exists */
  constructor(
    private readonly hg: string,
    private readonly part: string,
  ) {}

  /**
   * Begins a file; an earlier one is whole.
   * @throws RevconvertError PART_MALFORMED: it is no file of a store, or came before; PERMISSION, NO_SPACE, SYSTEM
   */
  begin(entry: StreamEntry): void {
    this.#name = streamFileName(entry);
    this.#left = entry.bytes;
    const path = this.#placeOf(entry);
    if (path === undefined) {
      this.leftOut.push(entry.name);
      return;
    }
    if (this.#names.has(path)) throw this.#malformed('two files have this name');
    this.#names.add(path);
    this.files++;
    this.#guard(() => {
      this.#makeFolder(folderOf(path));
      this.#descriptor = openSync(below(this.hg, path), 'wx');
    });
    if (entry.bytes === 0) this.close();
  }

  /** Bytes of the file that was begun last. @throws RevconvertError NO_SPACE, SYSTEM */
  write(bytes: Uint8Array): void {
    const descriptor = this.#descriptor;
    this.#left -= bytes.length;
    if (descriptor === undefined) return;
    this.#guard(() => {
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at);
    });
    this.bytes += bytes.length;
    if (this.#left === 0) this.close();
  }

  /** Closes a file that is open, whole or not. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** @returns where it goes, below `.hg`; undefined: it is left out */
  #placeOf({ place, name }: StreamEntry): BytePath | undefined {
    const rule = place === 'cache' ? findRule('hg', `cache/${name}`) : findRule('store', name);
    if (rule?.action === 'drop' || (place === 'store' && NODEMAP.test(name))) return undefined;
    if (place === 'cache' && rule?.action === 'carry') return `cache/${name}`;
    if (place === 'store' && REVLOG_FILE.test(name)) {
      this.fncache.push(encodeDirectories(name));
      return `store/${encodeStorePath(name, 'dotencode')}`;
    }
    if (place === 'store' && (rule?.action === 'rewrite' || rule?.action === 'carry')) return `store/${name}`;
    throw this.#malformed('it is no file of a store that can come in a stream clone');
  }

  #makeFolder(folder: BytePath): void {
    if (this.#folders.has(folder)) return;
    mkdirSync(below(this.hg, folder), { recursive: true });
    this.#folders.add(folder);
  }

  #malformed(message: string): RevconvertError {
    return new RevconvertError('PART_MALFORMED', `${JSON.stringify(this.#name)}: ${message}`, { part: this.part });
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      throw toRevconvertError(error, { path: this.#name });
    }
  }
}
