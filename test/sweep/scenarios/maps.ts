/** Maps: bounded concurrency, tolerated and fatal failures, retries of items, none and many items. */
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../scenario.ts';

const input = z.object({ items: z.array(z.number()).default([1, 2, 3, 4, 5]) });

const squares = (stage: Stage) =>
  defineWorkflow({
    type: 'squares',
    planVersion: 1,
    input,
    steps(step) {
      const list = step('list', async ({ input, ...c }) => {
        await stage.acts(c);
        return input.items;
      });
      const squared = step.map(
        'square',
        { needs: { list }, over: ({ list }) => list, concurrency: 2 },
        async ({ item, ...c }) => {
          await stage.acts(c, 100 * item);
          return item * item;
        },
      );
      const sum = step('sum', { needs: { squared } }, async ({ squared, ...c }) => {
        await stage.acts(c);
        return squared.reduce((total, one) => total + one, 0);
      });
      return { squared, sum };
    },
  });

const tolerant = (stage: Stage) =>
  defineWorkflow({
    type: 'tolerant',
    planVersion: 1,
    input,
    steps(step) {
      const odd = step.map(
        'odd',
        {
          over: ({ input }) => input.items,
          completion: { tolerate: 2 },
          concurrency: 3,
          retry: { maxAttempts: 2, initialMs: 200 },
        },
        async ({ item, ...c }) => {
          await stage.acts(c, 50);
          if (item % 2 === 0) throw new Error(`${item} is even`);
          if (item === 3 && c.attempt === 1) throw new Error('3 takes two attempts');
          return item;
        },
      );
      return { odd };
    },
  });

const strict = (stage: Stage) =>
  defineWorkflow({
    type: 'strict',
    planVersion: 1,
    input,
    steps(step) {
      const small = step.map(
        'small',
        { over: ({ input }) => input.items, concurrency: 1 },
        async ({ item, ...c }) => {
          await stage.acts(c, 50);
          if (item > 2) throw new Fatal(`${item} is too large`);
          return item;
        },
      );
      return { small };
    },
  });

const enough = (stage: Stage) =>
  defineWorkflow({
    type: 'enough',
    planVersion: 1,
    input,
    steps(step) {
      const first = step.map(
        'first',
        { over: ({ input }) => input.items, completion: { atLeast: 2 }, concurrency: 1 },
        async ({ item, ...c }) => {
          await stage.acts(c, 50);
          return item;
        },
      );
      return { first };
    },
  });

const charges = (stage: Stage) =>
  defineWorkflow({
    type: 'charges',
    planVersion: 1,
    input,
    steps(step) {
      const charged = step.map(
        'charge',
        { over: ({ input }) => input.items, concurrency: 2, idempotent: false },
        async ({ item, ...c }) => {
          await stage.acts(c, 2_500);
          return item;
        },
      );
      return { charged };
    },
  });

export const mapScenarios: readonly Scenario[] = [
  {
    name: 'map',
    workflows: (stage) => [squares(stage)],
    start: { type: 'squares' },
    ends: { status: 'completed' },
    pairs: true,
  },
  {
    name: 'map-of-nothing',
    workflows: (stage) => [squares(stage)],
    start: { type: 'squares', input: { items: [] } },
    ends: { status: 'completed' },
  },
  {
    name: 'map-tolerating-failures',
    workflows: (stage) => [tolerant(stage)],
    start: { type: 'tolerant' },
    ends: { status: 'completed', shows: ['step_failed', 'step_retry_scheduled'] },
    pairs: true,
  },
  {
    name: 'map-failing',
    workflows: (stage) => [strict(stage)],
    start: { type: 'strict' },
    ends: { status: 'failed', errorCode: 'ITEMS_FAILED' },
  },
  {
    name: 'map-until-enough',
    workflows: (stage) => [enough(stage)],
    start: { type: 'enough' },
    ends: { status: 'completed' },
  },
  {
    name: 'map-not-idempotent',
    workflows: (stage) => [charges(stage)],
    start: { type: 'charges', input: { items: [1, 2, 3] } },
    ends: { status: 'completed', shows: ['step_started'] },
  },
];
