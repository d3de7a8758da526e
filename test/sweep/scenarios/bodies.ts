/**
 * Body features besides returning: memos, heartbeats, usage, outputs too large for a checkpoint; and doubts about them.
 */
import { z } from 'zod';
import type { Decision } from '../../../packages/cairn/src/core/run/events.ts';
import { stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Ending, Scenario, Stage } from '../scenario.ts';
import { decides } from './operations.ts';

const input = z.object({});
/** Above what a checkpoint carries itself. */
const LARGE = 300 * 1024;

const looping = (stage: Stage) =>
  defineWorkflow({
    type: 'looping',
    planVersion: 1,
    input,
    steps(step) {
      const pages = step('pages', { retry: { maxAttempts: 2, initialMs: 100 } }, async ({ memo, ...c }) => {
        await stage.acts(c);
        const seen: string[] = [];
        for (const page of ['a', 'b', 'c']) seen.push(await memo(page, () => stage.memoises(c, page)));
        if (c.attempt === 1) throw new Error('after all pages');
        return seen;
      });
      return { pages };
    },
  });

const breathing = (stage: Stage) =>
  defineWorkflow({
    type: 'breathing',
    planVersion: 1,
    input,
    steps(step) {
      const long = step('long', { heartbeatTimeout: '10s' }, async ({ heartbeat, usage, ...c }) => {
        for (let done = 0; done < 3; done += 1) {
          heartbeat({ done });
          usage({ agent: 'model', tokens: { input: 10, output: 1 } });
          await (done === 0 ? stage.acts(c, 2_000) : stage.goesOn(c, 2_000));
        }
        return 'out of breath';
      });
      return { long };
    },
  });

const large = (stage: Stage) =>
  defineWorkflow({
    type: 'large',
    planVersion: 1,
    input,
    steps(step) {
      const text = step('text', async (c) => {
        await stage.acts(c, 50);
        return 'x'.repeat(LARGE);
      });
      const night = step.sleep('night', { needs: { text }, for: '8h' });
      const length = step('length', { needs: { text, night } }, async ({ text, ...c }) => {
        await stage.acts(c);
        return text.length;
      });
      return { length, text };
    },
  });

const lengthOf = (stage: Stage) =>
  defineWorkflow({
    type: 'length-of',
    planVersion: 1,
    input: z.object({ text: z.string() }),
    steps(step) {
      const length = step('length', async ({ input, ...c }) => {
        await stage.acts(c, 50);
        return input.text.length;
      });
      return { length };
    },
  });

const doubtfulItems = (stage: Stage) =>
  defineWorkflow({
    type: 'doubtful-items',
    planVersion: 1,
    input,
    onDoubt: 'ask',
    steps(step) {
      const paid = step.map(
        'pay',
        { over: () => ['a', 'b'], concurrency: 1, idempotent: false },
        async ({ item, ...c }) => {
          await stage.acts(c, 2_500);
          return item;
        },
      );
      return { paid };
    },
  });

const doubtful = (stage: Stage) =>
  defineWorkflow({
    type: 'doubtful',
    planVersion: 1,
    input,
    onDoubt: 'ask',
    steps(step) {
      const pay = step('pay', { idempotent: false }, async (c) => {
        await stage.acts(c, 3_000);
        return 'paid';
      });
      const tell = step('tell', { needs: { pay } }, async ({ pay, ...c }) => {
        await stage.acts(c);
        return pay;
      });
      return { tell };
    },
  });

function doubt(decision: Decision, inDoubt: Pick<Ending, 'status' | 'errorCode'>): Scenario {
  return {
    name: `doubt-${decision}`,
    workflows: (stage) => [doubtful(stage)],
    start: { type: 'doubtful' },
    // With pairs of deaths, two doubts are possible.
    operations: [1, 2].map((time) =>
      decides(
        'pay',
        { decision, ...(decision === 'approve_with_waiver' ? { note: 'it was' } : {}) },
        {
          name: `decide ${time}`,
          onlyDisturbed: true,
          when: (view) => view.waitsAt('pay') && (time === 1 || view.wasAnswered('decide 1')),
        },
      ),
    ),
    ends: { status: 'completed', shows: ['step_started'] },
    inDoubt,
  };
}

export const bodyScenarios: readonly Scenario[] = [
  {
    name: 'memo',
    workflows: (stage) => [looping(stage)],
    start: { type: 'looping' },
    ends: { status: 'completed', shows: ['step_retry_scheduled'] },
    pairs: true,
  },
  {
    name: 'heartbeats',
    workflows: (stage) => [breathing(stage)],
    start: { type: 'breathing' },
    ends: { status: 'completed' },
  },
  {
    name: 'large-output',
    workflows: (stage) => [large(stage)],
    start: { type: 'large' },
    ends: { status: 'completed' },
  },
  {
    name: 'large-input',
    workflows: (stage) => [lengthOf(stage)],
    start: { type: 'length-of', input: { text: 'x'.repeat(LARGE) } },
    ends: { status: 'completed' },
  },
  {
    name: 'doubt-about-items',
    workflows: (stage) => [doubtfulItems(stage)],
    start: { type: 'doubtful-items' },
    operations: ['pay[0]', 'pay[1]'].map((item) =>
      decides(
        item,
        { decision: 'approve' },
        {
          name: `decide ${item}`,
          onlyDisturbed: true,
          when: ({ run }) => run?.waits.some(({ execution }) => stepKey(execution) === item) ?? false,
        },
      ),
    ),
    ends: { status: 'completed', shows: ['step_started'] },
    inDoubt: { status: 'completed' },
  },
  doubt('approve', { status: 'completed' }),
  doubt('approve_with_waiver', { status: 'completed' }),
  doubt('reject', { status: 'failed', errorCode: 'RUN_ORPHANED' }),
  doubt('halt', { status: 'cancelled' }),
];
