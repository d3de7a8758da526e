import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../functions/src/core/errors.ts';
import { degraded } from '../../../functions/src/engine/define/degraded.ts';
import type { OnFailure, Policy, WorkflowOptions } from '../../../functions/src/engine/define/types.ts';
import { defineWorkflow } from '../../../functions/src/engine/define/workflow.ts';
import { decideApproval } from '../../../functions/src/operations/approvals/decide-approval.ts';
import { cancelRun } from '../../../functions/src/operations/cancel-run.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const NOTHING = z.object({});
type Define = Partial<Pick<WorkflowOptions<object>, 'policy' | 'timeout' | 'onDoubt'>>;

function workflowOf(steps: WorkflowOptions<object>['steps'], more: Define = {}) {
  return defineWorkflow({ type: 'w', planVersion: 1, input: NOTHING, steps, ...more });
}

async function ran(...args: Parameters<typeof workflowOf>) {
  const world = new World({ workflows: [workflowOf(...args)] });
  const runId = await world.start('w');
  await world.run();
  return { world, runId, state: assertStored(world.db, runId) };
}

describe('the final failure of a step', () => {
  test.each<[string, OnFailure<string>, string, unknown]>([
    ['ends the run', 'fail', 'failed', undefined],
    ['lets the step be skipped', 'skip', 'completed', '{"after":"without","risky":null}'],
    [
      'puts a value in its place',
      { degradeTo: 'plain' },
      'completed',
      '{"after":"with plain","risky":"plain"}',
    ],
  ])('%s', async (_, onFailure, status, result) => {
    const { state } = await ran((step) => {
      const risky = step('risky', { onFailure, retry: { maxAttempts: 2, initialMs: 0 } }, (): string => {
        throw new Error('no');
      });
      const after = step('after', { needs: { risky }, ifSkipped: 'run' }, ({ risky }) =>
        risky === undefined ? 'without' : `with ${risky}`,
      );
      return { risky, after };
    });
    expect(state.status).toBe(status);
    if (result !== undefined) expect(state.result).toEqual({ text: result });
  });

  test('of one class of errors is tried as often as that class deserves', async () => {
    class Busy extends Error {}
    const tried: string[] = [];
    const { state } = await ran((step) => {
      const busy = step(
        'busy',
        { retry: { maxAttempts: 2, initialMs: 0, perError: [{ match: Busy, maxAttempts: 5 }] } },
        ({ attempt }) => {
          tried.push(`busy ${attempt}`);
          if (attempt < 5) throw new Busy();
          return 1;
        },
      );
      const coded = step(
        'coded',
        { needs: { busy }, retry: { initialMs: 0, perError: [{ match: 'E_NO', maxAttempts: 1 }] } },
        () => {
          tried.push('coded');
          throw Object.assign(new Error('no'), { code: 'E_NO' });
        },
      );
      return { coded };
    });
    expect(tried).toEqual(['busy 1', 'busy 2', 'busy 3', 'busy 4', 'busy 5', 'coded']);
    expect(state.status).toBe('failed');
  });
});

test('a result that is worth less than what was asked for says so, and counts', async () => {
  const { state, world, runId } = await ran((step) => ({
    a: step('a', () => degraded(7, 'only half was there')),
  }));
  expect(state).toMatchObject({ status: 'completed', result: { text: '{"a":7}' } });
  expect(state.steps.get('a')).toMatchObject({ outcome: 'degraded' });
  const events = await world.store.readEvents(runId, 0, 100);
  expect(events.find(({ type }) => type === 'step_degraded')?.data).toMatchObject({
    reason: 'only half was there',
  });
});

test('what a body reports of its model stands on its checkpoint', async () => {
  const { world, runId, state } = await ran((step) => ({
    a: step('a', ({ usage }) => {
      usage({ agent: 'reader', tokens: { input: 10, output: 1 } });
      usage({ tokens: { input: 5, output: 2 } });
      return 1;
    }),
  }));
  const [checkpoint] = await world.store.readCheckpoints(runId, [state.steps.get('a')?.seq ?? 0]);
  expect(checkpoint).toMatchObject({ agent: 'reader', tokensUsed: { input: 15, output: 3 } });
});

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

  test('undoes what was done, the newest first, and leaves the failure as it was', async () => {
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

  test('that fails is recorded, and the others run', async () => {
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

  test('that a crash cut off goes on with what is not undone', async () => {
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

describe('a policy', () => {
  const asked: string[] = [];
  const policyThat =
    (allows: (at: string) => boolean): Policy<object> =>
    ({ at, stepId }) => {
      asked.push(stepId ?? at);
      return {
        allowed: allows(stepId ?? at),
        policySnapshotId: `rules-${asked.length}`,
        reason: 'by the rules',
      };
    };
  const steps: WorkflowOptions<object>['steps'] = (step) => {
    const rest = step.sleep('rest', { for: '1h' });
    return { a: step('a', { needs: { rest } }, () => 1) };
  };

  test('is asked at the start and when the run moves again, and what it went by is recorded', async () => {
    asked.length = 0;
    const { state } = await ran(steps, { policy: policyThat(() => true) });
    expect(asked).toEqual(['start', 'resume']);
    expect(state).toMatchObject({ status: 'completed', policySnapshotId: 'rules-2' });
  });

  test.each(['start', 'resume'])('that refuses at %s ends the run', async (at) => {
    asked.length = 0;
    const { state } = await ran(steps, { policy: policyThat((where) => where !== at) });
    expect(state).toMatchObject({
      status: 'cancelled',
      stopKind: 'policy',
      cancellation: { stopKind: 'policy', reason: 'by the rules' },
    });
  });

  test('of a step keeps its body from running', async () => {
    asked.length = 0;
    let ran1 = false;
    const policy = policyThat(() => false);
    const { state } = await ran((step) => ({
      a: step('a', { policy }, () => {
        ran1 = true;
      }),
    }));
    expect({ ran1, asked, status: state.status }).toEqual({ ran1: false, asked: ['a'], status: 'cancelled' });
  });

  test('that throws is asked again later, and nothing runs unasked', async () => {
    let calls = 0;
    const policy: Policy<object> = () => {
      calls += 1;
      if (calls < 5) throw new Error('unreachable');
      return { allowed: true, policySnapshotId: 'p' };
    };
    const { state } = await ran((step) => ({ a: step('a', () => calls) }), { policy });
    expect(state).toMatchObject({ status: 'completed', result: { text: '{"a":5}' } });
  });
});

test('a run that takes too long fails, wherever it waits', async () => {
  const { state } = await ran((step) => ({ rest: step.sleep('rest', { for: '3d' }) }), { timeout: '1d' });
  expect(state).toMatchObject({ status: 'failed', error: { code: 'RUN_TIMEOUT' } });
  expect(state.durationMs).toBe(24 * 3_600_000);
});

test('a memo is made once, and what it holds survives a failed attempt', async () => {
  const made: string[] = [];
  const { state } = await ran((step) => ({
    a: step('a', { retry: { initialMs: 0 } }, async ({ memo, attempt }) => {
      const one = await memo('one', () => {
        made.push(`one at ${attempt}`);
        return { n: 1 };
      });
      if (attempt === 1) throw new Error('later');
      return one.n + (await memo('two', () => 1));
    }),
  }));
  expect(state.result).toEqual({ text: '{"a":2}' });
  expect(made).toEqual(['one at 1']);
});

describe('a sign of life', () => {
  test('hands what it says to the next attempt', async () => {
    const seen: unknown[] = [];
    await ran((step) => ({
      a: step('a', { retry: { initialMs: 0 } }, ({ progress, heartbeat, attempt }) => {
        seen.push(progress);
        heartbeat({ page: attempt });
        if (attempt < 3) throw new Error('again');
      }),
    }));
    expect(seen).toEqual([undefined, { page: 1 }, { page: 2 }]);
  });

  test('that does not come in time times the attempt out', async () => {
    const { state } = await ran((step) => ({
      a: step(
        'a',
        { heartbeatTimeout: '2s', timeout: '1m', retry: { maxAttempts: 1 } },
        () => new Promise(() => {}),
      ),
    }));
    expect(state.error).toMatchObject({
      code: 'STEP_TIMEOUT',
      message: expect.stringContaining('no sign of life'),
    });
    expect(state.durationMs).toBeLessThan(10_000);
  });
});

describe('a step that must not run twice and was caught mid-flight', () => {
  async function crashed(onDoubt: 'fail' | 'ask') {
    const runs: number[] = [];
    const workflow = workflowOf(
      (step) => {
        const a = step('a', { idempotent: false }, ({ attempt }) => {
          runs.push(attempt);
          return runs.length === 1 ? new Promise<string>(() => {}) : 'done';
        });
        return { a };
      },
      { onDoubt },
    );
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('w');
    const first = mortal(world.deps, 7);
    await world.run(() => runs.length === 1, first.deps);
    first.kill();
    await world.run(() =>
      ['failed', 'awaiting_approval'].includes(world.db.runs.get(runId)?.snapshot.status ?? ''),
    );
    return { world, runId, runs, state: assertStored(world.db, runId) };
  }

  test('fails the run', async () => {
    const { state } = await crashed('fail');
    expect(state).toMatchObject({ status: 'failed', error: { code: 'RUN_ORPHANED', stepId: 'a' } });
  });

  test('or asks a person, and waits', async () => {
    const { state, runs } = await crashed('ask');
    expect(state).toMatchObject({
      status: 'awaiting_approval',
      waits: [{ id: 'a.1.1.doubt', purpose: 'doubt', execution: { stepId: 'a', attempt: 1 } }],
    });
    expect(runs).toEqual([1]);
  });
});

test('what was done before a step was sent back is undone as well, each revision with its own output', async () => {
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
  const asked = () => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval';
  const decide = (decision: 'retry_with_feedback' | 'halt', feedback?: string) =>
    decideApproval(world.deps, {
      runId,
      tenantId: 't1',
      stepId: 'check',
      actor: 'ann',
      decision,
      feedback,
    });
  await world.run(asked);
  await decide('retry_with_feedback', 'more');
  await world.run(() => built === 2 && asked());
  await decide('halt');
  await world.run();
  expect(assertStored(world.db, runId)).toMatchObject({ status: 'cancelled', stopKind: 'halt' });
  expect(undone).toEqual(['build 2 of revision 2', 'build 1 of revision 1']);
});

test('memos of a compensation are its own, and survive an attempt that failed', async () => {
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

test('a time that cannot be stored fails the step that names it', async () => {
  const { state } = await ran((step) => ({ a: step.sleep('a', { until: 9e15 }) }));
  expect(state).toMatchObject({
    status: 'failed',
    error: { stepId: 'a', message: expect.stringContaining('10000') },
  });
});
