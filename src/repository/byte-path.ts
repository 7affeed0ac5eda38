import type { BytePath } from '../formats/store-path.js';

const ASCII = /^[^\u0080-\uffff]*$/;

/**
 * A path below a folder, for the file system. Names in a repository are bytes: as long as they are ASCII a string
 * will do, and is what Node is fastest with.
 * @param folder a path as given by the user
 * @param name below it, one character a byte
 */
export function below(folder: string, name: BytePath): string | Buffer {
  if (ASCII.test(name)) return `${folder}/${name}`;
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')]);
}

/** A path as it may have crossed threads. */
export type FilePath = string | Uint8Array;

/** A path for the file system that may have crossed threads, where a Buffer becomes a plain array. */
export const asPath = (path: FilePath): string | Buffer =>
  typeof path === 'string' ? path : Buffer.from(path.buffer, path.byteOffset, path.byteLength);

/** The folder part of a name; '' where there is none. */
export const folderOf = (name: BytePath): BytePath => name.slice(0, Math.max(0, name.lastIndexOf('/')));

/** Control and format characters, which act on a terminal, and line separators. */
const ACTS_ON_TERMINALS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text as it can be shown: nothing in it acts on a terminal. */
export const showable = (text: string): string =>
  text.replace(ACTS_ON_TERMINALS, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);

/** A name as it can be shown: UTF-8 where it is that, and nothing in it that acts on a terminal. */
export const displayName = (name: BytePath): string => showable(ASCII.test(name) ? name : Buffer.from(name, 'latin1').toString('utf8'));
