import type { WorkKind } from '../repository/work.js';
import type { BuildSettings } from './to-repository/build-tools.js';
import type { BuildTask, BuiltRevlog } from './to-repository/build-tasks.js';

const entry = new URL('bundle-worker.js', import.meta.url);

/** Builds revlogs out of the groups of a changegroup. */
export const BUILD: WorkKind<BuildSettings, BuildTask, readonly BuiltRevlog[]> = {
  name: 'build',
  entry,
  load: async () => (await import('./to-repository/build-tasks.js')).createBuildRunner,
};
