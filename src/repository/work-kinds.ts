import type { ConversionSettings } from './settings.js';
import type { Task, TaskResult } from './tasks.js';
import type { VerifyResult, VerifySettings, VerifyTask } from './verify/tasks.js';
import type { WorkKind } from './work.js';

const entry = new URL('worker.js', import.meta.url);

/** Converts revlogs, whole or in ranges. */
export const CONVERT: WorkKind<ConversionSettings, Task, TaskResult> = {
  name: 'convert',
  entry,
  load: async () => (await import('./tasks.js')).createTaskRunner,
};

/** Verifies them. */
export const VERIFY: WorkKind<VerifySettings, VerifyTask, VerifyResult> = {
  name: 'verify',
  entry,
  load: async () => (await import('./verify/runner.js')).createVerifyRunner,
};
