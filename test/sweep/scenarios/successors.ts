/** Successors of ended runs: resumed, replayed and forked, with sets, waits, children and compensation. */
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { cancels, succeeds } from './operations.ts';

const input = z.object({});

const chain = (stage: Stage) =>
  defineWorkflow({
    type: 'line',
    planVersion: 1,
    input,
    steps(step) {
      const first = step('first', async (c) => {
        await stage.acts(c);
        return 1;
      });
      const never = step('never', { when: () => false }, async (c) => {
        await stage.acts(c);
        return 0;
      });
      const last = step('last', { needs: { first, never }, ifSkipped: 'run' }, async ({ first, ...c }) => {
        await stage.acts(c);
        return (first ?? 0) + 1;
      });
      return { last };
    },
  });

/** Is cancelled during its sleep, and undone. Its successor does the second half, and repeats what was undone. */
const stay = (stage: Stage) =>
  defineWorkflow({
    type: 'stay',
    planVersion: 1,
    input,
    steps(step) {
      const plan = step('plan', async (c) => {
        await stage.acts(c);
        return ['a', 'b'];
      });
      const rooms = step.map(
        'rooms',
        { needs: { plan }, over: ({ plan }) => plan },
        async ({ item, ...c }) => {
          await stage.acts(c);
          return item;
        },
      );
      const booked = step(
        'book',
        { needs: { rooms }, compensate: async (c) => stage.undoes(c) },
        async (c) => {
          await stage.acts(c);
          return 'booked';
        },
      );
      const night = step.sleep('night', { needs: { booked }, for: '2m' });
      return {
        bill: step('bill', { needs: { night } }, async (c) => {
          await stage.acts(c);
          return 'paid';
        }),
      };
    },
  });

const parent = (stage: Stage) =>
  defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input,
    steps(step) {
      const kid = step.child('kid', { workflow: 'line', input: () => ({}) });
      const after = step('after', { needs: { kid } }, async (c) => {
        await stage.acts(c);
        return 1;
      });
      return { after };
    },
  });

export const successorScenarios: readonly Scenario[] = [
  {
    name: 'resume-cancelled',
    workflows: (stage) => [stay(stage)],
    start: { type: 'stay' },
    operations: [cancels((view) => view.waitsAt('night')), succeeds('resume')],
    ends: {
      status: 'cancelled',
      others: ['stay: completed'],
      shows: ['run_superseded', 'replay_started', 'step_reused', 'replay_finished', 'run_resumed'],
    },
  },
  {
    name: 'fork-completed',
    workflows: (stage) => [chain(stage)],
    start: { type: 'line' },
    operations: [succeeds('fork')],
    ends: { status: 'completed', others: ['line: completed'], shows: ['step_reused', 'replay_finished'] },
    pairs: true,
  },
  {
    name: 'replay-with-child',
    workflows: (stage) => [parent(stage), chain(stage)],
    start: { type: 'parent' },
    operations: [succeeds('replay')],
    ends: {
      status: 'completed',
      others: ['line: completed', 'line: completed', 'parent: completed'],
      shows: ['replay_started', 'replay_finished'],
    },
  },
];
