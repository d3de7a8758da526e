import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { apiKey } from '../../packages/cairn/src/core/encoding/idempotency-keys.ts';
import type { ProblemCode } from '../../packages/cairn/src/core/integrity/problems.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { type SampleDeps, sampleRuns } from '../../packages/cairn/src/operations/integrity/sample-runs.ts';
import { CollectedLog } from '../../packages/cairn/src/testing/world/collected-log.ts';
import { MemoryIntegrityStore } from '../support/memory/memory-integrity-store.ts';
import { MemoryRunSample } from '../support/memory/memory-run-sample.ts';
import { World } from '../support/world.ts';

const one = defineWorkflow({
  type: 'one',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ a: step('a', () => 1) }),
});

let world: World;
let log: CollectedLog;
let counted: { tenantId: string; code: ProblemCode }[];
let deps: SampleDeps;

beforeEach(() => {
  world = new World({ workflows: [one] });
  log = new CollectedLog(world.clock);
  counted = [];
  deps = {
    ...world.deps,
    log,
    reader: new MemoryIntegrityStore(world.db),
    payloads: world.store,
    statistics: world.statistics,
    sample: new MemoryRunSample(world.db),
    problems: { inconsistent: (problem) => counted.push(problem) },
  };
});

async function started(count: number, tenantId = 't1'): Promise<string[]> {
  const runIds: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const key = apiKey('c.caller', `${tenantId}-${i}`);
    runIds.push(await world.start('one', {}, { tenantId, key }));
  }
  await world.run();
  return runIds;
}

test('a sound installation logs nothing, and at most fifty of its runs are checked', async () => {
  await started(60);
  expect(await sampleRuns(deps)).toEqual({
    checked: expect.any(Number),
    inconsistent: 0,
    passedOver: 0,
    failed: 0,
    dangling: 0,
    problems: {},
  });
  expect((await sampleRuns(deps)).checked).toBeLessThanOrEqual(50);
  expect(log.lines).toEqual([]);
});

test('problems of a new run are logged and counted by code, and not repaired', async () => {
  const [, , runId = ''] = await started(3);
  const run = world.db.runs.get(runId);
  if (!run) throw new Error('the run is gone');
  run.steps.clear();
  run.snapshot = { ...run.snapshot, currentStep: 'nothing' };
  const report = await sampleRuns(deps);
  expect(report).toMatchObject({ checked: 3, inconsistent: 1 });
  expect(report.problems).toEqual({ SNAPSHOT_DIFFERENT: 1, STEP_MISSING: 1 });
  expect(log.lines).toMatchObject([
    {
      level: 'error',
      event: 'run_inconsistent',
      fields: {
        runId,
        tenantId: 't1',
        verdict: 'healable',
        codes: ['SNAPSHOT_DIFFERENT', 'STEP_MISSING'],
        problems: 2,
        subjects: ['run', 'steps/a'],
      },
    },
  ]);
  expect(counted).toEqual([
    { tenantId: 't1', code: 'SNAPSHOT_DIFFERENT' },
    { tenantId: 't1', code: 'STEP_MISSING' },
  ]);
  expect(run.events.at(-1)?.type).toBe('run_completed');
});

test('every tenant has its turn, and old runs as well as new ones', async () => {
  for (let i = 0; i < 12; i += 1) await started(2, `t${i}`);
  const seen = new Set<string>();
  const { reader } = deps;
  const watched = { ...deps, reader: { atOneMoment: watch } };
  function watch<T>(runId: string, look: Parameters<typeof reader.atOneMoment<T>>[1]): Promise<T> {
    seen.add(runId);
    return reader.atOneMoment(runId, look);
  }
  for (let i = 0; i < 30; i += 1) await sampleRuns(watched);
  expect(seen.size).toBe(24);
});

test('a start record whose run is missing is reported', async () => {
  const [runId = ''] = await started(2);
  world.db.runs.delete(runId);
  expect(await sampleRuns(deps)).toMatchObject({ dangling: 1 });
  expect(log.lines).toMatchObject([
    { event: 'run_inconsistent', fields: { runId, codes: ['IDEMPOTENCY_RECORD_ELSEWHERE'] } },
  ]);
});

describe('a run', () => {
  test('that is too long for a sample is skipped and not read', async () => {
    const [runId = ''] = await started(1);
    const run = world.db.runs.get(runId);
    if (run) run.snapshot = { ...run.snapshot, head: 2_001 };
    expect(await sampleRuns(deps)).toMatchObject({ checked: 0, passedOver: 1, inconsistent: 0 });
  });

  test('that cannot be read does not affect the others', async () => {
    const [broken] = await started(3);
    const { reader } = deps;
    const failing: SampleDeps['reader'] = {
      atOneMoment: (runId, look) =>
        runId === broken ? Promise.reject(new Error('no')) : reader.atOneMoment(runId, look),
    };
    expect(await sampleRuns({ ...deps, reader: failing })).toMatchObject({ checked: 2, failed: 1 });
    expect(log.lines).toMatchObject([{ event: 'run_not_checked', fields: { runId: broken } }]);
  });
});
