import type { Mercurial } from '../published/workspace.js';

/**
 * How long Mercurial takes to make the revisions of the changelog for a changegroup, in its own process: seconds, run by run.
 * Undefined where it runs no scripts.
 */
export function timeSending(hg: Mercurial, repository: string, runs: number): number[] | undefined {
  const printed = hg.runScript(repository, SCRIPT.replace('RUNS', String(runs)));
  return printed === undefined ? undefined : (JSON.parse(printed) as number[]);
}

const SCRIPT = `
import json, time
times = []
for run in range(RUNS):
    repo.invalidate(clearfilecache=True)
    changelog = repo.unfiltered().changelog
    nodes = [changelog.node(rev) for rev in changelog]
    started = time.perf_counter()
    for revision in changelog.emitrevisions(nodes, revisiondata=True):
        pass
    times.append(time.perf_counter() - started)
print(json.dumps(times))
`;
