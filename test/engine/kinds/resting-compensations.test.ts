/** Compensations whose receivers ask for a later time: the run rests until then, whatever else happens to it. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal, RetryAt } from '../../../packages/cairn/src/core/errors.ts';
import { isStuck } from '../../../packages/cairn/src/core/findings.ts';
import { SUMMARY_CHARS } from '../../../packages/cairn/src/core/run/records.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { LOCAL_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { continueRun, suspendRun } from '../../../packages/cairn/src/operations/suspend-run.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { workflowOf } from './one-run.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

interface Undoing {
  readonly world: World;
  /** Times at which the compensation was called, ms. */
  readonly calls: readonly number[];
}

/** A run of a step and one that fails after it. `undo` compensates the first, with the number of the call. */
function undoing(undo: (call: number, world: World) => unknown, options: object = {}): Undoing {
  const calls: number[] = [];
  const workflow = workflowOf((step) => {
    const compensate = () => {
      calls.push(world.clock.now());
      return undo(calls.length, world) as Promise<void>;
    };
    const a = step('a', { ...options, compensate }, () => 'A');
    const b = step('b', { needs: { a } }, (): string => {
      throw new Fatal('broken');
    });
    return { b };
  });
  const world = new World({ workflows: [workflow] });
  return { world, calls };
}

const later = (world: World, ms: number, message = 'too many') => {
  throw new RetryAt(world.clock.now() + ms, message);
};

/** Seconds after the first call. */
const secondsOf = ([first = 0, ...others]: readonly number[]) => [
  0,
  ...others.map((at) => Math.round((at - first) / SECOND)),
];

test.each([
  [12, 30 * SECOND],
  [4, 121 * SECOND],
])('%i items that rest once each are no run that is stuck', async (items, restMs) => {
  const rested = new Set<number>();
  const workflow = workflowOf((step) => {
    const compensate = ({ index }: { readonly index: number }) => {
      if (rested.has(index)) return;
      rested.add(index);
      later(world, restMs);
    };
    const over = () => Array.from({ length: items }, (_, index) => index);
    const a = step.map('a', { over, compensate }, () => 'A');
    const b = step('b', { needs: { a } }, (): string => {
      throw new Fatal('broken');
    });
    return { b };
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('w');
  let findings = 0;
  await world.run(() => {
    findings = Math.max(findings, world.db.findings.size);
    return false;
  });
  expect({ findings, rested: rested.size }).toEqual({ findings: 0, rested: items });
  const { compensationLog, failures } = assertStored(world.db, runId);
  expect(compensationLog.every(({ outcome }) => outcome === 'compensated')).toBe(true);
  expect(failures).toBeUndefined();
});

test.each([
  { maxAttempts: 1, failures: 0 },
  { maxAttempts: 3, failures: 2 },
])('a rest is granted at the last of $maxAttempts attempts too', async ({ maxAttempts, failures }) => {
  const { world, calls } = undoing(
    (call) => {
      if (call <= failures) throw new Error('refused');
      if (call === failures + 1) later(world, HOUR);
    },
    { retry: { maxAttempts } },
  );
  const runId = await world.start('w');
  await world.run();
  expect(assertStored(world.db, runId).compensationLog.map(({ outcome }) => outcome)).toEqual([
    'compensated',
  ]);
  expect(calls).toHaveLength(failures + 2);
});

test('a run past its deadline is not scanned while it rests', async () => {
  const calls: number[] = [];
  const workflow = workflowOf(
    (step) => {
      const compensate = () => {
        calls.push(world.clock.now());
        if (calls.length <= 2) later(world, 6 * HOUR);
      };
      const a = step('a', { compensate }, () => 'A');
      const b = step('b', { needs: { a } }, (): string => {
        throw new Fatal('broken');
      });
      return { b };
    },
    { timeout: '1h' },
  );
  const world = new World({ workflows: [workflow] });
  await world.start('w');
  let due = 0;
  const counts = {
    scan(scanned: { readonly due: number }) {
      due += scanned.due;
    },
  };
  await world.run(() => false, { ...world.deps, counts } as never);
  expect(secondsOf(calls)).toEqual([0, 6 * 3_600, 12 * 3_600]);
  expect(due).toBeLessThan(5);
});

test('the time holds for a run that is suspended and continued during the call', async () => {
  const request = () => ({ runId, tenantId: 't1', actor: 'ada' }) as never;
  const { world, calls } = undoing(async (call) => {
    if (call > 1) return;
    await suspendRun(world.deps as never, request());
    later(world, HOUR);
  });
  const runId = await world.start('w');
  await world.run(() => calls.length === 1 && world.stateOf(runId).lease === undefined);
  world.clock.jump(60 * SECOND);
  await continueRun(world.deps as never, request());
  await world.run();
  expect(secondsOf(calls)).toEqual([0, 3_600]);
});

test('the time holds if a child ends during the call', async () => {
  const calls: number[] = [];
  const child = defineWorkflow({
    type: 'child',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ nap: step.sleep('nap', { for: '10s' }) }),
  });
  const parent = workflowOf((step) => {
    const compensate = async () => {
      calls.push(world.clock.now());
      if (calls.length > 1) return;
      await new Promise<void>((resolve) => {
        world.clock.timer(20 * SECOND, resolve);
      });
      later(world, HOUR);
    };
    const a = step('a', { compensate }, () => 'A');
    const kid = step.child('kid', { needs: { a }, workflow: child, input: () => ({}) });
    const nap = step.sleep('nap', { needs: { a }, for: '6s' });
    const b = step('b', { needs: { nap } }, (): string => {
      throw new Fatal('broken');
    });
    return { b, kid };
  });
  const world = new World({ workflows: [parent, child] });
  await world.start('w');
  await world.run();
  expect(secondsOf(calls)).toEqual([0, 3_620]);
});

test('a receiver that always names a near time is called less and less often, and the run counts as stuck', async () => {
  const { world, calls } = undoing(() => later(world, 6 * SECOND, 'm'.repeat(20_000)));
  const runId = await world.start('w');
  await world.run(() => calls.length === 12);
  const times = secondsOf(calls);
  expect((times[11] as number) - (times[10] as number)).toBeGreaterThanOrEqual(60);
  expect(world.db.findings.size).toBe(1);
  const error = world.stateOf(runId).failures?.error;
  expect(error?.trace).toBeUndefined();
  expect(error?.message.length).toBeLessThanOrEqual(SUMMARY_CHARS);
});

test.each([{ withoutUndo: true }, {}])(
  'a cancel during another compensation ends no later than the rest: %j',
  async (cancel) => {
    const calls: number[] = [];
    const workflow = workflowOf((step) => {
      const rests = () => {
        calls.push(world.clock.now());
        if (calls.length === 1) later(world, 6 * HOUR);
      };
      const first = step('first', { compensate: rests }, () => 'A');
      const cancels = () =>
        cancelRun(world.deps, { runId, tenantId: 't1', stopKind: 'user', ...cancel }) as never;
      const second = step('second', { needs: { first }, compensate: cancels }, () => 'B');
      const broken = step('broken', { needs: { second } }, (): string => {
        throw new Fatal('broken');
      });
      return { broken };
    });
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('w');
    await world.run();
    const { status, completedAt = Number.NaN } = assertStored(world.db, runId);
    expect(status).toBe('cancelled');
    const [firstCall = 0] = calls;
    // Without the option, the request calls the receiver once more at once.
    expect(calls).toHaveLength(cancel.withoutUndo ? 0 : 2);
    if (calls.length > 0) expect(completedAt - firstCall).toBeLessThan(HOUR);
  },
);

test('a rest does not count as an unanswered question of a policy', () => {
  const rest = { times: 4, error: { code: 'X', message: 'later', retryable: true } };
  const state = { failures: rest, policyDue: true, dueAt: HOUR, updatedAt: 0 } as never as Parameters<
    typeof isStuck
  >[0];
  expect([isStuck(state), isStuck({ ...state, compensating: true })]).toEqual([true, false]);
});

describe('attempts at a compensation are counted over all dispatches', () => {
  const outcomes = (world: World, runId: string) =>
    assertStored(world.db, runId).compensationLog.map(({ outcome }) => outcome);

  test('if a dispatch has no time for all', async () => {
    const { world, calls } = undoing(
      async () => {
        await new Promise<void>((resolve) => {
          world.clock.timer(0.6 * LOCAL_SETTINGS.budgetMs, resolve);
        });
        throw new Error('refused');
      },
      { timeout: '6m', retry: { maxAttempts: 3 } },
    );
    const runId = await world.start('w');
    await world.run(() => calls.length === 3);
    expect(world.stateOf(runId).failures).toMatchObject({
      times: 1,
      error: { code: 'STEP_FAILED', message: 'refused', undo: { step: 'a', revision: 1, attempts: 1 } },
    });
    await world.run(() => calls.length > 20);
    expect(outcomes(world, runId)).toEqual(['failed']);
    // The time of each dispatch but the last ended during its second attempt.
    expect(calls).toHaveLength(5);
  });

  test('if its receiver asks for rests in between', async () => {
    const { world, calls } = undoing(
      (call) => {
        if (call % 2 === 0) later(world, HOUR);
        throw new Error('refused');
      },
      { retry: { maxAttempts: 3 } },
    );
    const runId = await world.start('w');
    await world.run(() => calls.length > 20);
    expect(outcomes(world, runId)).toEqual(['failed']);
    expect(calls).toHaveLength(5);
  });

  test.each<[string, (world: World) => object]>([
    ['is shut down before it begins', () => ({ shutdown: AbortSignal.abort() })],
    ['fails', (world) => ({ store: failingAfterClaim(world) })],
  ])('if a dispatch in between %s', async (_, broken) => {
    const { world, calls } = undoing(
      (call) => {
        if (call === 2) later(world, HOUR);
        throw new Error('refused');
      },
      { retry: { maxAttempts: 2 } },
    );
    const runId = await world.start('w');
    await world.run(() => calls.length === 2 && world.stateOf(runId).lease === undefined);
    world.clock.jump(HOUR);
    await drive({ ...world.deps, ...broken(world) }, { runId });
    expect([calls.length, world.stateOf(runId).failures]).toMatchObject([
      2,
      { times: 2, error: { undo: { attempts: 1 } } },
    ]);
    await world.run();
    expect([calls.length, outcomes(world, runId)]).toEqual([3, ['failed']]);
  });

  function failingAfterClaim(world: World) {
    let isClaimed = false;
    return intercept(world.store, async ({ method, args }, proceed) => {
      if (isClaimed) {
        isClaimed = false;
        throw new Error('broken');
      }
      const events = method === 'commit' ? (args[0] as JournalCommit).events : [];
      isClaimed = events.some(({ type }) => type === 'run_claimed');
      return proceed();
    });
  }

  test('for each execution by itself', async () => {
    const failedOnce = new Set<number>();
    const workflow = workflowOf((step) => {
      const compensate = ({ index }: { readonly index: number }) => {
        if (!failedOnce.has(index)) {
          failedOnce.add(index);
          throw new Error('refused');
        }
        if (index === 1 && world.clock.now() < restsUntil) later(world, HOUR);
      };
      const a = step.map('a', { over: () => [0, 1], compensate, retry: { maxAttempts: 2 } }, () => 'A');
      const b = step('b', { needs: { a } }, (): string => {
        throw new Fatal('broken');
      });
      return { b };
    });
    const world = new World({ workflows: [workflow] });
    const restsUntil = world.clock.now() + HOUR / 2;
    const runId = await world.start('w');
    await world.run();
    expect(outcomes(world, runId)).toEqual(['compensated', 'compensated']);
  });
});
