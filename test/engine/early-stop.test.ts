import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { LOCAL_SETTINGS } from '../../packages/cairn/src/engine/settings.ts';
import { decideApproval } from '../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
import type { JournalCommit } from '../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../support/intercept.ts';
import { World } from '../support/world.ts';

const reviewed = defineWorkflow({
  type: 'reviewed',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const text = step('text', () => 'what was written');
    const gate = step.approval('gate', { needs: { text }, ask: () => 'is it good?' });
    return { text, gate };
  },
});

/** A run whose steps have all ended, but whose end is not recorded. */
async function approved() {
  const world = new World({ workflows: [reviewed] });
  const runId = await world.start('reviewed');
  await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval');
  await decideApproval(world.deps, {
    runId,
    tenantId: 't1',
    stepId: 'gate',
    decision: 'approve',
    actor: 'u1',
  });
  return { world, runId };
}

describe('a drive that is stopped while it reads the state of earlier drives', () => {
  test('does not end the run before that state is known', async () => {
    const { world, runId } = await approved();
    const stop = new AbortController();
    const store = intercept(world.store, ({ method }, proceed) => {
      if (method === 'readCheckpoints') stop.abort();
      return proceed();
    });
    await drive({ ...world.deps, store, shutdown: stop.signal }, { runId });
    expect(stop.signal.aborted).toBe(true);
    await world.run();
    const { status, result } = await world.folded(runId);
    expect(status).toBe('completed');
    expect(result).toMatchObject({ text: expect.stringContaining('"text":"what was written"') });
  });
});

describe('a drive that waits for its policy', () => {
  test('notices a cancel of the run', async () => {
    let runId = '';
    let requestCount = 0;
    const world = new World({
      workflows: [
        defineWorkflow({
          type: 'guarded',
          planVersion: 1,
          input: z.object({}),
          policy: async () => {
            requestCount += 1;
            if (requestCount === 3) await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
            throw new Error('unreachable');
          },
          steps: (step) => ({ a: step('a', () => 1) }),
        }),
      ],
    });
    runId = await world.start('guarded');
    const patience = world.clock.now() + 10_000;
    const status = () => world.db.runs.get(runId)?.snapshot.status;
    await world.run(() => status() === 'cancelled' || world.clock.now() > patience);
    expect(status()).toBe('cancelled');
    expect((await world.folded(runId)).lease).toBeUndefined();
  });

  test('leaves a run that is taken over meanwhile', async () => {
    const asking = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    let requestCount = 0;
    const world = new World({
      workflows: [
        defineWorkflow({
          type: 'guarded',
          planVersion: 1,
          input: z.object({}),
          policy: async () => {
            requestCount += 1;
            if (requestCount === 1) {
              asking.resolve();
              await answer.promise;
            }
            return { allowed: true, policySnapshotId: 'p' };
          },
          steps: (step) => ({ a: step('a', () => requestCount) }),
        }),
      ],
    });
    const runId = await world.start('guarded');
    const frozen = drive(world.deps, { runId });
    await asking.promise;
    world.clock.jump(2 * LOCAL_SETTINGS.leaseMs);
    expect(await drive(world.deps, { runId })).toBe('moved');
    expect(await drive(world.deps, { runId, alone: true })).toBe('closed');
    answer.resolve();
    expect(await frozen).toBe('lease_lost');
    expect(await world.folded(runId)).toMatchObject({ status: 'completed', result: { text: '{"a":2}' } });
  });
});

const BUDGET_MS = 6_000;

/** A run in a dispatch that records a suspension, while it is answered and `stop` happens. */
async function stoppedWhileSuspending(
  stop: (world: World, shutdown: AbortController) => void,
  timeout = '1h',
) {
  const began: string[] = [];
  const workflow = defineWorkflow({
    type: 'answered',
    planVersion: 1,
    input: z.object({}),
    timeout,
    steps(step) {
      const gate = step.approval('gate', { ask: () => 'Go on?' });
      const after = step('after', { needs: { gate }, timeout: '1s' }, () => void began.push('after'));
      return { after };
    },
  });
  const world = new World({ workflows: [workflow], settings: { budgetMs: BUDGET_MS } });
  const runId = await world.start('answered');
  const shutdown = new AbortController();
  let isStopped = false;
  const store = intercept(world.store, async ({ method, args }, proceed) => {
    const events = method === 'commit' ? (args[0] as JournalCommit).events : [];
    if (!isStopped && events.some(({ type }) => type === 'run_suspended')) {
      isStopped = true;
      const answer = { tenantId: 't1', stepId: 'gate', decision: 'approve', actor: 'u1' } as const;
      await decideApproval(world.deps, { runId, ...answer });
      stop(world, shutdown);
    }
    return proceed();
  });
  const end = await drive({ ...world.deps, store, shutdown: shutdown.signal }, { runId });
  expect(isStopped).toBe(true);
  return { began: [...began], end, world, runId };
}

describe('a stop that arrives while the dispatch records a suspension, which an answer prevents', () => {
  const elapsed = (world: World, ms: number) => {
    const until = world.clock.now() + ms;
    while (world.clock.fireNext(until));
    world.clock.jump(until - world.clock.now());
  };

  test.each<[string, (world: World, shutdown: AbortController) => void]>([
    ['a shutdown', (_, shutdown) => shutdown.abort()],
    ['the end of its budget', (world) => elapsed(world, BUDGET_MS)],
  ])('still holds: %s', async (_, stop) => {
    const { began, end, world, runId } = await stoppedWhileSuspending(stop);
    expect([end, began]).toEqual(['released', []]);
    await world.run();
    expect((await world.folded(runId)).status).toBe('completed');
  });

  test('still holds: the end of the time of the run', async () => {
    const { began, world, runId } = await stoppedWhileSuspending((world) => elapsed(world, 4_000), '4s');
    await world.run();
    expect([world.stateOf(runId).error?.code, began]).toEqual(['RUN_TIMEOUT', []]);
  });
});
