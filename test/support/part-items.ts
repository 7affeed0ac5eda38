/** Items of bundles whose parts are told by short words, for tests of what looks at parts: nothing of src is used but types. */
import type { BundleItem, BundleStart } from '../../src/formats/bundle/items.js';
import type { PartHeader } from '../../src/formats/bundle/part-header.js';
import { CHANGELOG } from './changegroup-items.js';

/** A part; a type in upper case is mandatory, and its version may stand behind `=`. */
export function part(word: string, id = 0): PartHeader {
  const [type = '', version] = word.split('=');
  return {
    type: type.toLowerCase(),
    id,
    mandatory: type !== type.toLowerCase(),
    mandatoryParameters: version === undefined ? [] : [{ name: 'version', value: version }],
    advisoryParameters: [],
  };
}

export const start = (more: Partial<BundleStart> = {}): BundleStart => ({ type: 'bundle', container: 'HG20', compression: 'none', parameters: [], ...more });

/**
 * Items of a bundle in words: `(` and the type of a part begins one, `!(` one that interrupts, `)` ends one, `g` is a group, `r` a revision of
 * it, `end` the end; every other word is data.
 */
export function items(words: string, bundle: Partial<BundleStart> = {}): BundleItem[] {
  return [start(bundle), ...words.split(' ').filter((word) => word !== '').map(itemOf)];
}

function itemOf(word: string): BundleItem {
  if (word.startsWith('(')) return { type: 'part', part: part(word.slice(1)), interrupts: false };
  if (word.startsWith('!(')) return { type: 'part', part: part(word.slice(2)), interrupts: true };
  if (word === ')') return { type: 'part-end' };
  if (word === 'end') return { type: 'end' };
  if (word === 'g') return { type: 'group', group: CHANGELOG };
  if (word === 'r') return { type: 'chunks', group: CHANGELOG, version: '02', bytes: [], revisions: 1 };
  return { type: 'data', bytes: Buffer.from(word) };
}

/** The words again, without the beginning. */
export const words = (made: readonly BundleItem[]): string => made.flatMap((item) => (item.type === 'bundle' ? [] : [wordOf(item)])).join(' ');

function wordOf(item: Exclude<BundleItem, BundleStart>): string {
  switch (item.type) {
    case 'part': {
      const { type, mandatory, mandatoryParameters } = item.part;
      const version = mandatoryParameters.find(({ name }) => name === 'version')?.value;
      return `${item.interrupts ? '!' : ''}(${mandatory ? type.toUpperCase() : type}${version === undefined ? '' : `=${version}`}`;
    }
    case 'part-end':
      return ')';
    case 'group':
      return 'g';
    case 'chunks':
    case 'revisions':
      return 'r';
    case 'data':
      return Buffer.from(item.bytes).toString();
    case 'end':
      return 'end';
  }
}
