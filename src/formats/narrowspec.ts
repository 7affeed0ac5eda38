import type { BytePath } from './store-path.js';

/**
 * Which files a narrow repository has (`store/narrowspec`): sections `[include]` and `[exclude]`, a pattern a line:
 * `path:src` a file, or a folder and all below it; `rootfilesin:src` what lies in a folder itself.
 * @param text the file, one character a byte
 * @returns whether a path is among them
 */
export function parseNarrowspec(text: string): (path: BytePath) => boolean {
  const included: string[] = [];
  const excluded: string[] = [];
  let section: string[] | undefined;
  for (const line of text.split('\n')) {
    if (line === '[include]') section = included;
    else if (line === '[exclude]') section = excluded;
    else if (line !== '' && !line.startsWith('#')) section?.push(line);
  }
  return (path) => included.some((pattern) => matches(pattern, path)) && !excluded.some((pattern) => matches(pattern, path));
}

function matches(pattern: string, path: BytePath): boolean {
  const colon = pattern.indexOf(':');
  const kind = pattern.slice(0, colon);
  const place = pattern.slice(colon + 1).replace(/\/+$/, '');
  const isRoot = place === '' || place === '.';
  if (kind === 'rootfilesin') return isRoot ? !path.includes('/') : path.startsWith(`${place}/`) && !path.slice(place.length + 1).includes('/');
  return isRoot || path === place || path.startsWith(`${place}/`);
}
