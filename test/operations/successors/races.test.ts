import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { CairnError, Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { startSuccessor } from '../../../packages/cairn/src/operations/successors/start-successor.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { depsOf, succeed } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

const broken = defineWorkflow({
  type: 'broken',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({
    broke: step('break', () => {
      throw new Fatal('no');
    }),
  }),
});

async function failed(world: World, input: unknown = {}): Promise<string> {
  const runId = await world.start('broken', input);
  await world.run();
  return runId;
}

const REQUEST = { tenantId: 't1', mode: 'resume', requestHash: 'h', force: false } as const;

function codeOf(result: PromiseSettledResult<unknown>): string {
  if (result.status === 'fulfilled') return 'made';
  return result.reason instanceof CairnError ? result.reason.code : String(result.reason);
}

describe('when people resume one failed run at the same moment', () => {
  test.each([false, true])('one gets a successor, the others its id (each with a key: %s)', async (keyed) => {
    const world = new World({ workflows: [broken] });
    const runId = await failed(world);
    const results = await Promise.allSettled(
      ['ann', 'bob', 'cem', 'dua'].map((name) =>
        startSuccessor(depsOf(world), {
          ...REQUEST,
          runId,
          actor: `u.${name}`,
          key: keyed ? `api:u.${name}:k` : undefined,
        }),
      ),
    );
    expect(results.map(codeOf).sort()).toEqual([
      'RUN_TERMINAL_STATE',
      'RUN_TERMINAL_STATE',
      'RUN_TERMINAL_STATE',
      'made',
    ]);
    const { supersededBy } = assertStored(world.db, runId);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason.details).toMatchObject({ supersededBy });
      else expect(result.value).toMatchObject({ runId: supersededBy });
    }
    expect([...world.db.runs.keys()].sort()).toEqual([runId, supersededBy].sort());
    expect([...world.db.records.values()].map(({ record }) => record.runId)).toEqual(
      keyed ? [supersededBy] : [],
    );
  });

  test('all with the same request and key get the one successor', async () => {
    const world = new World({ workflows: [broken] });
    const runId = await failed(world);
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () =>
        startSuccessor(depsOf(world), { ...REQUEST, runId, actor: 'u.ann', key: 'api:u.ann:k' }),
      ),
    );
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    expect(new Set(outcomes.map((one) => ('runId' in one ? one.runId : one.kind))).size).toBe(1);
    expect(world.db.runs.size).toBe(2);
  });
});

describe('a resume whose commit was applied and whose answer was lost', () => {
  test.each([false, true])('recognizes its own successor (with a key: %s)', async (keyed) => {
    const world = new World({ workflows: [broken] });
    const runId = await failed(world);
    let lost = 0;
    const store = intercept(world.store, async ({ method }, proceed) => {
      const result = await proceed();
      if (method === 'start') lost += 1;
      if (method === 'start' && lost === 1) throw new OutcomeUnknown('start', new Error('lost'));
      return result;
    });
    const started = startSuccessor(
      { ...depsOf(world), store },
      { ...REQUEST, runId, actor: 'u.ann', key: keyed ? 'api:u.ann:k' : undefined },
    );
    await world.run(() => lost > 1);
    const outcome = await started;
    expect(outcome).toMatchObject({ kind: 'created', runId: assertStored(world.db, runId).supersededBy });
    expect(world.db.runs.size).toBe(2);
  });

  test('deletes its large input if it was not applied because another came first', async () => {
    const world = new World({ workflows: [broken] });
    const runId = await failed(world, 'x'.repeat(300_000));
    const payloads = world.db.payloads.size;
    await succeed(world, 'resume', runId);
    await expect(succeed(world, 'resume', runId)).rejects.toMatchObject({ code: 'RUN_TERMINAL_STATE' });
    expect(world.db.payloads.size).toBe(payloads);
  });
});

test('a run of another tenant cannot be resumed, replayed or forked: it is answered as missing', async () => {
  const world = new World({ workflows: [broken] });
  const runId = await failed(world);
  for (const mode of ['resume', 'replay', 'fork'] as const) {
    await expect(succeed(world, mode, runId, { tenantId: 't2' })).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  }
  expect(world.db.runs.size).toBe(1);
});

test('a lineage has at most fifty replays and forks', async () => {
  const world = new World({ workflows: [broken] });
  let runId = await failed(world);
  for (let i = 0; i < 50; i += 1) {
    runId = await succeed(world, i % 2 === 0 ? 'replay' : 'fork', runId);
    await world.run();
  }
  expect(assertStored(world.db, runId).effectScopes).toHaveLength(50);
  await expect(succeed(world, 'replay', runId)).rejects.toMatchObject({ code: 'RUN_INVALID_TRANSITION' });
  const resumed = await succeed(world, 'resume', runId);
  expect(assertStored(world.db, resumed).effectScopes).toHaveLength(50);
});
