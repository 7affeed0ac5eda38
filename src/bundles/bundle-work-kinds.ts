import type { WorkKind } from '../repository/work.js';
import type { BundleSettings, BundleTask, BundleTaskResult } from './from-repository/tasks.js';
import type { BuildTask, BuiltRevlog } from './to-repository/build-tasks.js';
import type { BuildSettings } from './to-repository/build-tools.js';

const entry = new URL('bundle-worker.js', import.meta.url);

/** Makes chunks of a changegroup from revlogs. */
export const BUNDLE: WorkKind<BundleSettings, BundleTask, BundleTaskResult> = {
  name: 'bundle',
  entry,
  load: async () => (await import('./from-repository/runner.js')).createBundleRunner,
};

/** Builds revlogs out of the groups of a changegroup. */
export const BUILD: WorkKind<BuildSettings, BuildTask, readonly BuiltRevlog[]> = {
  name: 'build',
  entry,
  load: async () => (await import('./to-repository/build-tasks.js')).createBuildRunner,
};
