/** Plain steps: chains, joins, retries, failures, timeouts, and steps that must not run twice. */
import { z } from 'zod';
import { Fatal, RetryAt } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../scenario.ts';

const input = z.object({});
/** Longer than the interval at which a drive sends heartbeats and reads events of others. */
const LONG_MS = 4_500;
/** Ten minutes after the beginning of a performance, so that no drive waits for it. */
const POLL_LATE = Date.UTC(2026, 0, 1, 0, 10);

const chain = (stage: Stage) =>
  defineWorkflow({
    type: 'chain',
    planVersion: 1,
    input,
    steps(step) {
      const one = step('one', async (c) => {
        await stage.acts(c);
        return 1;
      });
      const two = step('two', { needs: { one } }, async ({ one, ...c }) => {
        await stage.acts(c, 100);
        return one + 1;
      });
      const three = step('three', { needs: { two } }, async ({ two, ...c }) => {
        await stage.acts(c);
        return two + 1;
      });
      return { three };
    },
  });

const joined = (stage: Stage) =>
  defineWorkflow({
    type: 'joined',
    planVersion: 1,
    input,
    steps(step) {
      const root = step('root', async (c) => {
        await stage.acts(c);
        return 1;
      });
      const quick = step('quick', { needs: { root } }, async ({ root, ...c }) => {
        await stage.acts(c);
        return root + 1;
      });
      const middle = step('middle', { needs: { root } }, async ({ root, ...c }) => {
        await stage.acts(c, 300);
        return root + 2;
      });
      const slow = step('slow', { needs: { root } }, async ({ root, ...c }) => {
        await stage.acts(c, LONG_MS);
        return root + 3;
      });
      const sum = step('sum', { needs: { quick, middle, slow } }, async ({ quick, middle, slow, ...c }) => {
        await stage.acts(c);
        return quick + middle + slow;
      });
      return { sum };
    },
  });

const flaky = (stage: Stage) =>
  defineWorkflow({
    type: 'flaky',
    planVersion: 1,
    input,
    steps(step) {
      const soon = step('soon', { retry: { maxAttempts: 3, initialMs: 500 } }, async (c) => {
        await stage.acts(c, 50);
        if (c.attempt < 3) throw new Error(`attempt ${c.attempt}`);
        return c.attempt;
      });
      const late = step(
        'late',
        { needs: { soon }, retry: { maxAttempts: 2, initialMs: 300_000 } },
        async ({ soon, ...c }) => {
          await stage.acts(c);
          if (c.attempt < 2) throw new Error('come back later');
          return soon + c.attempt;
        },
      );
      return { late };
    },
  });

const polling = (stage: Stage) =>
  defineWorkflow({
    type: 'polling',
    planVersion: 1,
    input,
    steps(step) {
      const ready = step('ready', { poll: { within: '1d' }, retry: { maxAttempts: 1 } }, async (c) => {
        await stage.acts(c, 50);
        if (c.attempt < 4) throw new RetryAt(c.attempt === 2 ? POLL_LATE : 0, 'not yet');
        return c.attempt;
      });
      return { ready };
    },
  });

const fragile = (stage: Stage) =>
  defineWorkflow({
    type: 'fragile',
    planVersion: 1,
    input,
    steps(step) {
      const before = step('before', async (c) => {
        await stage.acts(c);
        return 'ready';
      });
      const once = step('once', { needs: { before }, idempotent: false }, async (c) => {
        await stage.acts(c, LONG_MS);
        return 'paid';
      });
      const after = step('after', { needs: { once } }, async ({ once, ...c }) => {
        await stage.acts(c);
        return `${once}, told`;
      });
      return { after };
    },
  });

const fragileAnew = (stage: Stage) =>
  defineWorkflow({
    type: 'fragile-anew',
    planVersion: 1,
    input,
    steps(step) {
      const once = step(
        'once',
        { idempotent: false, newAttempt: true, retry: { maxAttempts: 5 } },
        async (c) => {
          await stage.acts(c, LONG_MS);
          return 'paid';
        },
      );
      const after = step('after', { needs: { once } }, async ({ once, ...c }) => {
        await stage.acts(c);
        return `${once}, told`;
      });
      return { after };
    },
  });

const failing = (stage: Stage) =>
  defineWorkflow({
    type: 'failing',
    planVersion: 1,
    input,
    steps(step) {
      const fine = step('fine', async (c) => {
        await stage.acts(c);
        return 1;
      });
      const broken = step('broken', { needs: { fine } }, async (c) => {
        await stage.acts(c, 100);
        throw new Fatal('no use');
      });
      const never = step('never', { needs: { broken } }, async (c) => {
        await stage.acts(c);
        return 2;
      });
      return { never };
    },
  });

const dawdling = (stage: Stage) =>
  defineWorkflow({
    type: 'dawdling',
    planVersion: 1,
    input,
    steps(step) {
      const slow = step('slow', { timeout: '2s', retry: { maxAttempts: 2, initialMs: 100 } }, async (c) => {
        await stage.acts(c, c.attempt === 1 ? 60_000 : 500);
        return c.attempt;
      });
      return { slow };
    },
  });

const skipping = (stage: Stage) =>
  defineWorkflow({
    type: 'skipping',
    planVersion: 1,
    input,
    steps(step) {
      const first = step('first', async (c) => {
        await stage.acts(c);
        return 1;
      });
      const not = step('not', { needs: { first }, when: ({ first }) => first > 1 }, async (c) => {
        await stage.acts(c);
        return 2;
      });
      const neither = step('neither', { needs: { not } }, async ({ not, ...c }) => {
        await stage.acts(c);
        return not;
      });
      const anyway = step(
        'anyway',
        { needs: { neither, first }, ifSkipped: 'run' },
        async ({ first, ...c }) => {
          await stage.acts(c);
          return first ?? 0;
        },
      );
      return { anyway };
    },
  });

export const plainScenarios: readonly Scenario[] = [
  {
    name: 'chain',
    workflows: (stage) => [chain(stage)],
    start: { type: 'chain' },
    ends: { status: 'completed' },
    pairs: true,
  },
  {
    name: 'parallel-join',
    workflows: (stage) => [joined(stage)],
    start: { type: 'joined' },
    ends: { status: 'completed' },
    pairs: true,
  },
  {
    name: 'hand-over',
    workflows: (stage) => [joined(stage)],
    start: { type: 'joined' },
    // Each drive has time for one of the steps at most.
    settings: { budgetMs: 4_800 },
    ends: { status: 'completed', shows: ['run_released'] },
  },
  {
    name: 'retries',
    workflows: (stage) => [flaky(stage)],
    start: { type: 'flaky' },
    ends: { status: 'completed', shows: ['step_retry_scheduled', 'run_released'] },
    pairs: true,
  },
  {
    name: 'polling',
    workflows: (stage) => [polling(stage)],
    start: { type: 'polling' },
    ends: { status: 'completed', shows: ['step_retry_scheduled', 'run_released'] },
  },
  {
    name: 'not-idempotent',
    workflows: (stage) => [fragile(stage)],
    start: { type: 'fragile' },
    ends: { status: 'completed', shows: ['step_started'] },
    pairs: true,
  },
  {
    name: 'not-idempotent-new-attempt',
    workflows: (stage) => [fragileAnew(stage)],
    start: { type: 'fragile-anew' },
    judgedByEnd: true,
    ends: { status: 'completed', shows: ['step_started'] },
    pairs: true,
  },
  {
    name: 'failing',
    workflows: (stage) => [failing(stage)],
    start: { type: 'failing' },
    ends: { status: 'failed', errorCode: 'STEP_FAILED' },
    pairs: true,
  },
  {
    name: 'step-timeout',
    workflows: (stage) => [dawdling(stage)],
    start: { type: 'dawdling' },
    ends: { status: 'completed', shows: ['step_retry_scheduled'] },
  },
  {
    name: 'skipping',
    workflows: (stage) => [skipping(stage)],
    start: { type: 'skipping' },
    ends: { status: 'completed', shows: ['step_skipped'] },
  },
];
