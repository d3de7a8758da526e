/** Failures and ends: onFailure, compensation, time limits, policies. */
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { degraded } from '../../../packages/cairn/src/engine/define/body-result.ts';
import type { Policy } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { cancels } from './operations.ts';

const input = z.object({});

const forgiving = (stage: Stage) =>
  defineWorkflow({
    type: 'forgiving',
    planVersion: 1,
    input,
    steps(step) {
      const fails = async (c: Parameters<Stage['acts']>[0]): Promise<string> => {
        await stage.acts(c, 50);
        throw new Fatal('no use');
      };
      const spare = step('spare', { onFailure: { degradeTo: 'a guess' } }, fails);
      const extra = step('extra', { onFailure: 'skip' }, fails);
      const worse = step('worse', async (c) => {
        await stage.acts(c);
        return degraded('half of it', 'the rest was not there');
      });
      const all = step(
        'all',
        { needs: { spare, extra, worse }, ifSkipped: 'run' },
        async ({ spare, extra, worse, ...c }) => {
          await stage.acts(c);
          return [spare, extra ?? null, worse];
        },
      );
      return { all };
    },
  });

const travel = (stage: Stage, last: 'fails' | 'sleeps') =>
  defineWorkflow({
    type: 'travel',
    planVersion: 1,
    input,
    steps(step) {
      const flight = step('flight', { compensate: async (c) => stage.undoes(c, 50) }, async (c) => {
        await stage.acts(c, 50);
        return 'f1';
      });
      const hotel = step(
        'hotel',
        {
          needs: { flight },
          retry: { maxAttempts: 2, initialMs: 100 },
          compensate: async (c) => {
            await stage.undoes(c, 50);
            throw new Error('they keep the money');
          },
        },
        async (c) => {
          await stage.acts(c);
          return 'h1';
        },
      );
      const cars = step.map(
        'cars',
        {
          needs: { hotel },
          over: () => ['a', 'b'],
          concurrency: 1,
          compensate: async (c) => stage.undoes(c),
        },
        async ({ item, ...c }) => {
          await stage.acts(c);
          return item;
        },
      );
      if (last === 'sleeps') return { night: step.sleep('night', { needs: { cars }, for: '8h' }) };
      const pay = step('pay', { needs: { cars } }, async (c): Promise<null> => {
        await stage.acts(c, 50);
        throw new Fatal('no money');
      });
      return { pay };
    },
  });

const limited = (stage: Stage, ms: number) =>
  defineWorkflow({
    type: 'limited',
    planVersion: 1,
    input,
    timeout: '1h',
    steps(step) {
      const first = step('first', async (c) => {
        await stage.acts(c, ms);
        return 1;
      });
      return { night: step.sleep('night', { needs: { first }, for: '8h' }) };
    },
  });

const hasty = (stage: Stage) =>
  defineWorkflow({
    type: 'hasty',
    planVersion: 1,
    input,
    timeout: '10s',
    steps(step) {
      const work = step('work', async (c) => {
        await stage.acts(c, 30_000);
        return 1;
      });
      return { work };
    },
  });

const guarded = (stage: Stage, policy: Policy<Record<never, never>>) =>
  defineWorkflow({
    type: 'guarded',
    planVersion: 1,
    input,
    policy,
    steps(step) {
      const first = step('first', async (c) => {
        await stage.acts(c);
        return 1;
      });
      const second = step('second', { needs: { first }, policy }, async ({ first, ...c }) => {
        await stage.acts(c, 50);
        return first + 1;
      });
      return { second };
    },
  });

const refusing =
  (at: 'start' | 'step'): Policy<Record<never, never>> =>
  (question) => ({ allowed: question.at !== at, policySnapshotId: 'p1', reason: 'not today' });

export const endingScenarios: readonly Scenario[] = [
  {
    name: 'on-failure',
    workflows: (stage) => [forgiving(stage)],
    start: { type: 'forgiving' },
    ends: { status: 'completed', shows: ['step_degraded', 'step_skipped'] },
  },
  {
    name: 'compensate-failure',
    workflows: (stage) => [travel(stage, 'fails')],
    start: { type: 'travel' },
    ends: {
      status: 'failed',
      errorCode: 'STEP_FAILED',
      shows: ['compensation_started', 'step_compensated', 'compensation_failed'],
    },
    pairs: true,
  },
  {
    name: 'compensate-cancel',
    workflows: (stage) => [travel(stage, 'sleeps')],
    start: { type: 'travel' },
    operations: [cancels((view) => view.waitsAt('night'))],
    ends: { status: 'cancelled', shows: ['compensation_started', 'step_compensated', 'compensation_failed'] },
    pairs: true,
  },
  {
    name: 'run-timeout-asleep',
    workflows: (stage) => [limited(stage, 50)],
    start: { type: 'limited' },
    ends: { status: 'failed', errorCode: 'RUN_TIMEOUT' },
    pairs: true,
  },
  {
    name: 'run-timeout-at-work',
    // The work takes longer than the run may, however late it begins.
    workflows: (stage) => [hasty(stage)],
    start: { type: 'hasty' },
    ends: { status: 'failed', errorCode: 'RUN_TIMEOUT' },
  },
  {
    name: 'policy-allows',
    workflows: (stage) => [guarded(stage, () => ({ allowed: true, policySnapshotId: 'p1' }))],
    start: { type: 'guarded' },
    ends: { status: 'completed', shows: ['policy_evaluated'] },
  },
  {
    name: 'policy-refuses-start',
    workflows: (stage) => [guarded(stage, refusing('start'))],
    start: { type: 'guarded' },
    ends: { status: 'cancelled', shows: ['policy_evaluated'] },
  },
  {
    name: 'policy-refuses-step',
    workflows: (stage) => [guarded(stage, refusing('step'))],
    start: { type: 'guarded' },
    ends: { status: 'cancelled', shows: ['policy_evaluated'] },
  },
];
