import { statSync } from 'node:fs';

import { RevconvertError } from '../../errors.js';
import type { StreamVersion } from '../../formats/bundle/stream-clone.js';
import type { Repository } from '../../repository/open.js';
import { readSmallFile } from '../../repository/read-file.js';
import type { ListOptions } from './list-store.js';
import { isPublishing } from './publishes.js';

export interface ContentOptions {
  /** Phases go along in stream2. @default where the repository's hgrc says that it does not publish, as Mercurial does */
  readonly phases?: boolean | undefined;
  /** Obsolescence markers go along in stream2. @default true */
  readonly obsolescence?: boolean | undefined;
  /** Secret changesets may go along in stream2. @default false: they are refused, as Mercurial does */
  readonly secret?: boolean | undefined;
  readonly onNotice?: ((notice: string) => void) | undefined;
}

const SECRET = 2;

const MAX_PHASEROOTS = 1 << 28;

/**
 * What goes along with the history. A stream clone hands out all of it: what is secret or hidden here must not become
 * visible there without a word.
 * @throws RevconvertError BUNDLE_HOLDS
 */
export function chooseContent(repository: Repository, version: StreamVersion, { phases, obsolescence = true, secret = false, onNotice = () => undefined }: ContentOptions): ListOptions {
  const { storeFolder, hgFolder } = repository;
  const roots = readSmallFile(`${storeFolder}/phaseroots`, MAX_PHASEROOTS)?.toString('latin1') ?? '';
  const hasSecret = roots.split('\n').some((line) => Number.parseInt(line, 10) >= SECRET);
  // The first byte is the version.
  const hasMarkers = (statSync(`${storeFolder}/obsstore`, { throwIfNoEntry: false })?.size ?? 0) > 1;
  const withPhases = phases ?? !isPublishing(hgFolder);
  if (version === 'stream1') {
    if (hasSecret) onNotice('the bundle holds secret changesets, and in packed1 everything is public');
    if (hasMarkers) onNotice('packed1 holds no obsolescence markers: what is hidden here will be visible, and public');
    if (!hasSecret && roots !== '' && withPhases) onNotice('packed1 holds no phases: everything in it is public');
    return { version, phases: false, obsolescence: false };
  }
  if (hasSecret && !secret) throw new RevconvertError('BUNDLE_HOLDS', 'the repository has secret changesets, and a stream clone would hand them out; a changegroup leaves them out', { path: storeFolder });
  if (hasMarkers && !obsolescence) throw new RevconvertError('BUNDLE_HOLDS', 'without the obsolescence markers what is hidden here would be visible in a stream clone; leave them in', { path: storeFolder });
  return { version, phases: withPhases, obsolescence: hasMarkers };
}
