/** Bundles made by Mercurial, made others here, and made repositories by Mercurial. */
import { createReadStream, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

import type { BundleVerification } from '../../src/bundles/verify/result.js';
import { verifyBundle } from '../../src/bundles/verify/verify-bundle.js';
import type { FilterStep } from '../../src/index.js';
import { convertBundle } from '../../src/index.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import { checkSameHistory } from './after-conversion.js';
import { configArguments, runHgOk } from './hg-session.js';
import type { Mercurial } from './mercurial.js';

/** What is written by no Mercurial by default, and read by each. */
const CONFIG = ['experimental.changegroup3=yes', 'extensions.censor=', 'censor.policy=ignore'];

/** Gives the path of a name. */
export type At = (name: string) => string;

export const makeBundle = (hg: string, repository: string, target: string, type: string, ...which: readonly string[]): void =>
  void runHgOk(hg, ['--repository', repository, 'bundle', '--quiet', '--type', type, ...(which.length === 0 ? ['--all'] : which), target], { config: CONFIG });

export async function convertFile(from: string, to: string, target: string | undefined, filters: readonly FilterStep[] = []): Promise<void> {
  const { bytes } = await convertBundle(createReadStream(from), { to: target, filters });
  writeFileSync(to, await buffer(bytes));
}

/** Makes a repository of a bundle, by Mercurial. @param init configuration of the repository */
export function unbundle(hg: string, file: string, folder: string, ...init: readonly string[]): void {
  rmSync(folder, { recursive: true, force: true });
  runHgOk(hg, ['init', ...configArguments(init), folder]);
  runHgOk(hg, ['--repository', folder, 'unbundle', '--quiet', file], { config: CONFIG });
}

export const checkSame = (hg: string, source: string, destination: string): void => checkSameHistory({ hg, source, destination, scratch: '', config: CONFIG, verifyClean: true });

export const verifyFile = (file: string): Promise<BundleVerification> => verifyBundle(readBundleItems(createReadStream(file)));

/** What Mercurial says of each changeset. */
export const log = (hg: string, repository: string, template: string): string[] =>
  runHgOk(hg, ['--repository', repository, 'log', '--rev', 'all()', '--template', `${template}\n`]).split('\n').filter((line) => line !== '');

/** The work with each Mercurial, in a folder of its own. */
export async function withEach(mercurials: readonly Mercurial[], temporary: (name: string) => string, work: (hg: string, at: At) => Promise<void>): Promise<void> {
  for (const { hg, version } of mercurials) {
    mkdirSync(temporary(version));
    await work(hg, (name) => temporary(`${version}/${name}`));
  }
}

/** Configuration with which files can be censored. */
export { CONFIG as BUNDLE_CONFIG };
