/** Sleeps, and cancels of runs in each state. */
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { cancels } from './operations.ts';

const input = z.object({});

const resting = (stage: Stage) =>
  defineWorkflow({
    type: 'resting',
    planVersion: 1,
    input,
    steps(step) {
      const before = step('before', async (c) => {
        await stage.acts(c);
        return 1;
      });
      const night = step.sleep('night', { needs: { before }, for: '8h' });
      const nap = step.sleep('nap', { needs: { night }, for: '2s' });
      const after = step('after', { needs: { before, nap } }, async ({ before, ...c }) => {
        await stage.acts(c, 50);
        return before + 1;
      });
      return { after };
    },
  });

const busyAndAsleep = (stage: Stage) =>
  defineWorkflow({
    type: 'busy-and-asleep',
    planVersion: 1,
    input,
    steps(step) {
      const hour = step.sleep('hour', { for: '1h' });
      const month = step.sleep('month', { for: '40d' });
      const work = step('work', async (c) => {
        await stage.acts(c, 3_000);
        return 'done';
      });
      const end = step('end', { needs: { hour, work } }, async ({ work, ...c }) => {
        await stage.acts(c);
        return work;
      });
      return { end, month };
    },
  });

const working = (stage: Stage) =>
  defineWorkflow({
    type: 'working',
    planVersion: 1,
    input,
    steps(step) {
      const first = step('first', async (c) => {
        await stage.acts(c, 20_000);
        return 1;
      });
      const second = step('second', { needs: { first } }, async ({ first, ...c }) => {
        await stage.acts(c);
        return first + 1;
      });
      return { second };
    },
  });

export const sleepScenarios: readonly Scenario[] = [
  {
    name: 'sleep',
    workflows: (stage) => [resting(stage)],
    start: { type: 'resting' },
    ends: { status: 'completed', shows: ['wait_opened', 'wait_resolved', 'run_suspended'] },
    pairs: true,
  },
  {
    name: 'sleep-beside-work',
    workflows: (stage) => [busyAndAsleep(stage)],
    start: { type: 'busy-and-asleep' },
    ends: { status: 'completed', shows: ['run_suspended'] },
  },
  {
    name: 'cancel-asleep',
    workflows: (stage) => [resting(stage)],
    start: { type: 'resting' },
    operations: [cancels((view) => view.waitsAt('night'))],
    ends: { status: 'cancelled' },
    pairs: true,
  },
  {
    name: 'cancel-running',
    workflows: (stage) => [working(stage)],
    start: { type: 'working' },
    operations: [cancels((view) => view.isRunning('first'))],
    ends: { status: 'cancelled', shows: ['cancel_requested'] },
    pairs: true,
  },
  {
    name: 'cancel-twice',
    workflows: (stage) => [working(stage)],
    start: { type: 'working' },
    operations: [
      cancels((view) => view.isRunning('first')),
      cancels((view) => view.wasAnswered('cancel'), { name: 'cancel again' }),
    ],
    ends: { status: 'cancelled', shows: ['cancel_requested'] },
  },
];
