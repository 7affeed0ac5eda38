import { availableParallelism } from 'node:os';

import { checkWhole } from './check-whole.js';

const MAX_JOBS = 256;

/** How many threads, or programs, may work at a time. @param jobs undefined: the cores of the machine @throws RevconvertError USAGE */
export function fillJobs(jobs: number = Math.min(availableParallelism(), MAX_JOBS)): number {
  checkWhole('jobs', jobs, 1, MAX_JOBS);
  return jobs;
}
