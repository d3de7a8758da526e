import { describe, expect, test } from '@jest/globals';
import { Fatal, RetryAt } from '../../../packages/cairn/src/core/errors.ts';
import { UNDOING } from '../../../packages/cairn/src/core/run/state.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { ran, workflowOf } from './one-run.ts';

describe('compensation', () => {
  const undoing = (log: string[], options: { failing?: boolean; pause?: boolean } = {}) =>
    workflowOf((step) => {
      const undo = ({ stepId, output }: { stepId: string; output: string }) => {
        log.push(`${stepId} ${output}`);
        if (options.failing && stepId === 'b') throw new Fatal('cannot');
      };
      const a = step('a', { compensate: undo }, () => 'A');
      const b = step('b', { needs: { a }, compensate: undo }, () => 'B');
      const m = step.map(
        'm',
        {
          needs: { b },
          over: () => ['x', 'y'],
          concurrency: 1,
          compensate: ({ item, index, output }) => void log.push(`m ${index} ${item} ${output}`),
        },
        ({ item }) => `${item}!`,
      );
      const rest = step.sleep('rest', { needs: { m }, when: () => options.pause === true, for: '1h' });
      const c = step('c', { needs: { rest }, ifSkipped: 'run', compensate: undo }, (): string => {
        throw new Fatal('broken');
      });
      return { c };
    });
  const WHOLE = ['m 1 y y!', 'm 0 x x!', 'b B', 'a A'];

  test('undoes completed steps, the newest first, and keeps the failure of the run', async () => {
    const log: string[] = [];
    const world = new World({ workflows: [undoing(log)] });
    const runId = await world.start('w');
    await world.run();
    const state = assertStored(world.db, runId);
    expect(log).toEqual(WHOLE);
    expect(state).toMatchObject({ status: 'failed', error: { stepId: 'c', message: 'broken' } });
    expect(state.compensationLog.map(({ stepId, outcome }) => `${stepId} ${outcome}`)).toEqual([
      'm[1] compensated',
      'm[0] compensated',
      'b compensated',
      'a compensated',
    ]);
  });

  test('continues after a failed one, which is recorded', async () => {
    const log: string[] = [];
    const world = new World({ workflows: [undoing(log, { failing: true })] });
    const runId = await world.start('w');
    await world.run();
    expect(log).toEqual(WHOLE);
    const { compensationLog } = assertStored(world.db, runId);
    expect(compensationLog[2]).toMatchObject({
      stepId: 'b',
      outcome: 'failed',
      error: { message: 'cannot' },
    });
    expect(compensationLog[3]).toMatchObject({ stepId: 'a', outcome: 'compensated' });
  });

  test('runs when a waiting run is cancelled, before it ends', async () => {
    const log: string[] = [];
    const world = new World({ workflows: [undoing(log, { pause: true })] });
    const runId = await world.start('w');
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'waiting_external');
    const { status } = await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user' });
    expect(status).toBe('cancelling');
    await world.run();
    expect(log).toEqual(WHOLE);
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'cancelled', waits: [] });
  });

  test('continues after a crash with the steps that are not undone', async () => {
    const log: string[] = [];
    const world = new World({ workflows: [undoing(log)] });
    const runId = await world.start('w');
    const first = mortal(world.deps, 7);
    await world.run(() => log.includes('b B'), first.deps);
    first.kill();
    await world.run();
    expect(log.filter((line) => line !== 'b B')).toEqual(WHOLE.filter((line) => line !== 'b B'));
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'failed', error: { stepId: 'c' } });
  });
});

test('every revision of a step that was sent back is undone, each with its own output', async () => {
  const undone: string[] = [];
  let built = 0;
  const workflow = workflowOf((step) => {
    const build = step(
      'build',
      {
        compensate: ({ output, revision }) => {
          undone.push(`${output} of revision ${revision}`);
        },
      },
      () => {
        built += 1;
        return `build ${built}`;
      },
    );
    const check = step.approval('check', { needs: { build }, ask: () => 'Good?' });
    return { check };
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('w');
  const isAsking = () => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval';
  const decide = (decision: 'retry_with_feedback' | 'halt', feedback?: string) =>
    decideApproval(world.deps, {
      runId,
      tenantId: 't1',
      stepId: 'check',
      actor: 'ann',
      decision,
      feedback,
    });
  await world.run(isAsking);
  await decide('retry_with_feedback', 'more');
  await world.run(() => built === 2 && isAsking());
  await decide('halt');
  await world.run();
  expect(assertStored(world.db, runId)).toMatchObject({ status: 'cancelled', stopKind: 'halt' });
  expect(undone).toEqual(['build 2 of revision 2', 'build 1 of revision 1']);
});

test('memos of a compensation are its own, and survive a failed attempt', async () => {
  const made: string[] = [];
  const { state } = await ran((step) => {
    const a = step(
      'a',
      {
        retry: { initialMs: 0 },
        compensate: async ({ memo, attempt }) => {
          const id = await memo('id', () => {
            made.push(`undo ${attempt}`);
            return 'of the undoing';
          });
          expect(id).toBe('of the undoing');
          if (attempt === 1) throw new Error('again');
        },
      },
      ({ memo }) => memo('id', () => 'of the body'),
    );
    const b = step('b', { needs: { a } }, () => {
      throw new Fatal('broken');
    });
    return { b };
  });
  expect(state.compensationLog).toMatchObject([{ stepId: 'a', outcome: 'compensated' }]);
  expect(made).toEqual(['undo 1']);
});

describe('a compensation that fails', () => {
  const SECOND_MS = 1_000;
  const undoneBy = (undo: (attempts: number) => void) => {
    const calledAt: number[] = [];
    const workflow = workflowOf((step) => {
      const compensate = () => {
        calledAt.push(world.clock.now());
        undo(calledAt.length);
      };
      const a = step('a', { compensate }, () => 'A');
      const b = step('b', { needs: { a } }, (): string => {
        throw new Fatal('broken');
      });
      return { b };
    });
    const world = new World({ workflows: [workflow] });
    return { world, calledAt };
  };
  const outcomes = (world: World, runId: string) =>
    assertStored(world.db, runId).compensationLog.map(({ outcome }) => outcome);

  test.each([1, 60, 6 * 3_600])(
    "is tried again at the receiver's time, in %i s, however often it names one",
    async (inS) => {
      const { world, calledAt } = undoneBy((attempts) => {
        if (attempts <= 2) throw new RetryAt(world.clock.now() + inS * SECOND_MS, 'too many requests');
      });
      const runId = await world.start('w');
      await world.run();
      expect(outcomes(world, runId)).toEqual(['compensated']);
      const [first = 0] = calledAt;
      const waited = calledAt.map((at) => Math.round((at - first) / SECOND_MS));
      expect(waited).toEqual([0, inS, 2 * inS]);
      expect(world.stateOf(runId)).toMatchObject({ status: 'failed', error: { stepId: 'b' } });
    },
  );

  test('and whose receiver always names a later time never ends as failed, reports why, and can be skipped', async () => {
    const { world, calledAt } = undoneBy(() => {
      throw new RetryAt(world.clock.now() + 60 * SECOND_MS, 'too many requests');
    });
    const runId = await world.start('w');
    await world.run(() => calledAt.length > 20 && world.stateOf(runId).lease === undefined);
    expect(world.stateOf(runId)).toMatchObject({
      status: 'running',
      compensating: true,
      failures: { error: { message: 'too many requests' } },
    });
    await cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user', withoutUndo: true });
    await world.run();
    expect(world.stateOf(runId).status).toBe('cancelled');
    expect(outcomes(world, runId)).toEqual([]);
  });

  test('releases its run at once when the instance is shut down between two attempts', async () => {
    const { world, calledAt } = undoneBy(() => {
      throw new RetryAt(world.clock.now() + 5 * SECOND_MS, 'not yet');
    });
    const runId = await world.start('w');
    await world.run(() => calledAt.length === 1);
    const [since = 0] = calledAt;
    world.shutdown.abort();
    await world.run(() => world.stateOf(runId).lease === undefined);
    expect((await world.store.readEvents(runId, 0, 1_000)).at(-1)).toMatchObject({
      type: 'run_released',
      data: { reason: 'shutdown', interrupted: [UNDOING] },
    });
    expect(world.clock.now() - since).toBeLessThan(100);
    expect(calledAt).toHaveLength(1);
  });
});
