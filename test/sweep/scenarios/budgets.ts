/** Budgets: a run that reaches a limit before a body, and one that reaches it during a body. */
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { posting } from '../receiver.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { decides, person, raisesBudget } from './operations.ts';

const input = z.object({});

const spending = (stage: Stage) =>
  defineWorkflow({
    type: 'spending',
    planVersion: 1,
    input,
    budget: { tokens: 1_000, operations: 3 },
    steps(step) {
      const first = step('first', async (c) => {
        await stage.acts(c, 50);
        return 'first';
      });
      const both = step.map('both', { needs: { first }, over: () => [1, 2] }, async ({ item, ...c }) => {
        await stage.acts(c, 50);
        return item;
      });
      const last = step('last', { needs: { both } }, async ({ both, ...c }) => {
        await stage.acts(c);
        return both.length;
      });
      return { last };
    },
  });

/** The journal has the reservation of an attempt before it begins, and enough is left for the attempt after a death. */
const reserving = (stage: Stage) =>
  defineWorkflow({
    type: 'reserving',
    planVersion: 1,
    input,
    budget: { usd: 100 },
    steps(step) {
      const all = step.map(
        'all',
        { over: () => [1, 2, 3], concurrency: 2, estimate: { usd: 0.4 } },
        async ({ item, ...c }) => {
          await stage.acts(c, 50);
          c.usage({ usd: 0.1 });
          return item;
        },
      );
      return { all };
    },
  });

/** The tenant's day has room for all runs and for the reservations of dead dispatches. */
const sharing = (stage: Stage) =>
  defineWorkflow({
    type: 'sharing',
    planVersion: 1,
    input,
    steps(step) {
      const known = step('known', { estimate: { usd: 0.4 } }, async ({ usage, ...c }) => {
        await stage.acts(c, 50);
        usage({ usd: 0.5 });
        return 'known';
      });
      const unknown = step('unknown', { needs: { known } }, async ({ usage, ...c }) => {
        await stage.acts(c, 50);
        usage({ usd: 0.1 });
        return 'unknown';
      });
      return { unknown };
    },
  });

const post = posting();

const sending = (budget?: { effects: number }) =>
  defineWorkflow({
    type: 'sending',
    planVersion: 1,
    input,
    ...(budget && { budget }),
    uses: [post.capability],
    run: async (flow) => {
      const ids = await flow.step(
        'send',
        async ({ perform }) => {
          const first = await perform(post.capability, { what: 'first' });
          const second = await perform(post.capability, { what: 'second' });
          return [first.id, second.id];
        },
        { uses: [post.capability] },
      );
      return ids.length;
    },
  });

export const budgetScenarios: readonly Scenario[] = [
  {
    name: 'budget-reached',
    workflows: (stage) => [spending(stage)],
    start: { type: 'spending' },
    operations: [decides('last', { decision: 'approve', raise: { operations: 5 } })],
    ends: { status: 'completed', shows: ['wait_opened', 'wait_resolved'] },
  },
  {
    name: 'budget-reserved',
    workflows: (stage) => [reserving(stage)],
    start: { type: 'reserving' },
    ends: { status: 'completed', shows: ['step_started'] },
  },
  {
    name: 'budget-reached-by-effects',
    effects: [post],
    workflows: () => [sending({ effects: 1 })],
    start: { type: 'sending' },
    operations: [raisesBudget({ effects: 10 }), ...person()],
    ends: { status: 'completed', shows: ['effect_attempted', 'wait_opened', 'wait_resolved'] },
  },
  {
    name: 'budget-of-the-day',
    workflows: (stage) => [sharing(stage)],
    start: { type: 'sharing' },
    budgets: { perTenantAndDay: { usd: 100, operations: 1_000 } },
    ends: { status: 'completed', shows: ['step_succeeded'] },
  },
  {
    name: 'budget-of-the-day-reached',
    effects: [post],
    workflows: () => [sending()],
    start: { type: 'sending' },
    budgets: { perTenantAndDay: { effects: 1 } },
    // The start is late in the day, so that the unneeded task for the next day is due before the performance counts as stuck.
    startAt: Date.parse('2026-01-01T23:20:00Z'),
    operations: [raisesBudget({ effects: 20 }), ...person()],
    ends: { status: 'completed', shows: ['effect_attempted', 'wait_opened', 'wait_resolved'] },
  },
];
