import type { BytePath } from '../formats/store-path.js';

const ASCII = /^[\0-\x7f]*$/;

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

/** The folder part of a name; '' where there is none. */
export const folderOf = (name: BytePath): BytePath => name.slice(0, Math.max(0, name.lastIndexOf('/')));

/** A name as it can be shown: UTF-8 where it is that, and nothing in it that acts on a terminal. */
export function displayName(name: BytePath): string {
  const text = ASCII.test(name) ? name : Buffer.from(name, 'latin1').toString('utf8');
  return text.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
