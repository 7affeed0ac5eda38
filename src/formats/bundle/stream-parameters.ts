import { RevconvertError } from '../../errors.js';
import { asBuffer } from '../bytes.js';
import type { Parameter } from './part-header.js';

const bad = (message: string): RevconvertError => new RevconvertError('BUNDLE_PARAMETER', `stream parameters: ${message}`);

/**
 * Reads the parameters of a bundle 2 stream: separated by spaces, name and value quoted as in a URL (source: `hg help internals.bundle2`).
 * @returns values as text; an empty one where there is none
 * @throws RevconvertError BUNDLE_PARAMETER
 */
export function parseStreamParameters(bytes: Uint8Array): Parameter[] {
  const text = asBuffer(bytes).toString('latin1');
  if (/[^ -~]/.test(text)) throw bad(`a byte that is no printable ASCII: ${JSON.stringify(text)}`);
  if (text === '') return [];
  return text.split(' ').map((pair) => {
    const at = pair.indexOf('=');
    const name = unquote(at < 0 ? pair : pair.slice(0, at));
    if (!/^[a-zA-Z]/.test(name)) throw bad(`a name begins with a letter, found ${JSON.stringify(name)}`);
    return { name, value: at < 0 ? '' : unquote(pair.slice(at + 1)) };
  });
}

function unquote(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw bad(`${JSON.stringify(text)} is not quoted UTF-8`);
  }
}

/** @returns the parameters, without their length */
export const encodeStreamParameters = (parameters: readonly Parameter[]): Buffer =>
  Buffer.from(parameters.map(({ name, value }) => (value === '' ? encodeURIComponent(name) : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)).join(' '), 'latin1');

/** Whether a reader that does not know a parameter must stop. */
export const isMandatory = ({ name }: Parameter): boolean => /^[A-Z]/.test(name);
