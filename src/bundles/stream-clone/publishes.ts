import { readSmallFile } from '../../repository/read-file.js';

const FALSE = new Set(['0', 'no', 'false', 'off', 'never']);

/**
 * Whether who clones from a repository gets its changesets as public ones: unless its own hgrc says `publish = no` in
 * `[phases]`. Files that it includes, and those of the user and the machine, are not looked at.
 * @param hgFolder the folder `.hg`
 */
export function isPublishing(hgFolder: string): boolean {
  const text = readSmallFile(`${hgFolder}/hgrc`)?.toString('latin1') ?? '';
  let section = '';
  let publishes = true;
  for (const line of text.split(/\r?\n/)) {
    const heading = /^\[([^[]+)\]/.exec(line)?.[1];
    if (heading !== undefined) section = heading;
    const value = section === 'phases' ? /^publish\s*=\s*(\S*)/.exec(line)?.[1] : undefined;
    if (value !== undefined) publishes = !FALSE.has(value.toLowerCase());
  }
  return publishes;
}
