/** Operators: a workflow is paused, or the kill switch is on. Nothing is lost, and everything continues afterwards. */
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { holds, suspends } from './operations.ts';

/** Longer than any delay by an earlier crash. */
const LATER_MS = 45 * 60_000;

const steady = (stage: Stage) =>
  defineWorkflow({
    type: 'steady',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const first = step('first', async (c) => {
        await stage.acts(c, 5_000);
        return 1;
      });
      const nap = step.sleep('nap', { needs: { first }, for: '10m' });
      const second = step('second', { needs: { first, nap } }, async ({ first, ...c }) => {
        await stage.acts(c, 50);
        return first + 1;
      });
      return { second };
    },
  });

const base = { workflows: (stage: Stage) => [steady(stage)], start: { type: 'steady' } };

export const operatorScenarios: readonly Scenario[] = [
  {
    ...base,
    name: 'pause-while-running',
    operations: holds({ type: 'steady' }, (view) => view.isRunning('first'), LATER_MS),
    ends: { status: 'completed' },
  },
  {
    ...base,
    name: 'pause-while-asleep',
    operations: holds({ type: 'steady' }, (view) => view.waitsAt('nap'), LATER_MS),
    ends: { status: 'completed' },
  },
  {
    ...base,
    name: 'suspend-while-running',
    operations: suspends((view) => view.isRunning('first'), LATER_MS),
    ends: { status: 'completed', shows: ['suspend_requested', 'continue_requested'] },
  },
  {
    ...base,
    name: 'suspend-while-asleep',
    operations: suspends((view) => view.waitsAt('nap'), LATER_MS),
    ends: { status: 'completed', shows: ['suspend_requested', 'continue_requested'] },
  },
  {
    ...base,
    name: 'kill-switch',
    operations: holds('everything', (view) => view.isRunning('first'), LATER_MS),
    ends: { status: 'completed' },
  },
];
