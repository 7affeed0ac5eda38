/** A slow range must not let those behind it pile up in memory. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { describe, it } from 'mocha';

import { resolvePolicy } from '../../src/delta/policy-input.js';
import { convertStore } from '../../src/repository/convert-store.js';
import { openRepository } from '../../src/repository/open.js';
import { fillOptions } from '../../src/repository/options.js';
import { gatherFacts, planConversion } from '../../src/repository/plan.js';
import { WITHOUT_DICTIONARIES } from '../../src/repository/settings.js';
import type { RunTask } from '../../src/repository/tasks.js';
import { createTaskRunner } from '../../src/repository/tasks.js';
import { buildRepository, rawChunk } from '../support/repository-builder.js';
import { Scratch } from './support.js';

const AHEAD = 16;

describe('ranges that are ready before their turn', function () {
  this.timeout(60_000);
  const scratch = Scratch.use();

  it('wait: no more than sixteen are begun while the first is under way', async () => {
    const { store } = buildRepository(scratch.at('src'), { files: ['a.txt'], commits: 60, textBytes: 700_000, compress: rawChunk });
    const repository = openRepository(scratch.at('src'));
    const facts = gatherFacts(repository);
    mkdirSync(scratch.at('made', 'data'), { recursive: true });
    const settings = {
      engine: 'none' as const,
      levels: { changelog: undefined, manifest: undefined, filelog: undefined },
      checksum: false,
      checkChunks: false,
      keepGoing: false,
      redelta: 'never' as const,
      policy: resolvePolicy(),
      generaldelta: true,
      dictionaries: WITHOUT_DICTIONARIES,
  fileMode: undefined,
    };
    const runTask = await createTaskRunner(settings, () => false);
    const begunRanges: number[] = [];
    let release = (): void => undefined;
    const first = new Promise<void>((resolve) => (release = resolve));
    const lane: RunTask = async (task) => {
      if (task.type === 'range') {
        begunRanges.push(task.job.from);
        if (task.job.from === 0) await first;
      }
      return runTask(task);
    };
    const done = convertStore({
      plan: planConversion(facts, fillOptions({ to: 'none' })),
      settings,
      revlogs: facts.discovery.revlogs,
      from: store,
      to: scratch.at('made'),
      lanes: Array.from({ length: 40 }, () => lane),
      signal: undefined,
      onDone: () => undefined,
    });
    await delay(1000);
    assert.equal(begunRanges.length, AHEAD);
    release();
    const results = await done;
    assert.ok(new Set(begunRanges).size > AHEAD);
    assert.equal(results.find(({ name }) => name === 'data/a.txt.i')?.revisions, 60);
  });
});
