import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { CairnError, Fatal, NotApplied, RetryAt } from '../../../packages/cairn/src/core/errors.ts';
import { degraded } from '../../../packages/cairn/src/engine/define/body-result.ts';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Log } from '../../../packages/cairn/src/ports/log.ts';
import { World } from '../../support/world.ts';

const SECRET = 's3cret-address';
const input = z.object({ token: z.string(), before: z.number().default(0) });
const base = { planVersion: 1, input, secretInput: ['token'] };

const send = defineCapability({
  id: 'test.send',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ to: z.string() }),
  response: z.object({}),
  secrets: { request: ['to'] },
});
const sending = defineBinding(send, {
  id: 'test.sends',
  call: async ({ to }) => {
    throw new NotApplied(`no such receiver: ${to}`);
  },
});

const said = ({ input: { token, before } }: { readonly input: z.infer<typeof input> }) =>
  `${'x'.repeat(before)}${token} was refused`;

/** A workflow for each way in which a secret can get into the records of a run. */
const places = {
  body: defineWorkflow({
    ...base,
    type: 'body',
    steps: (step) => ({
      out: step('out', (seen) => {
        throw new Fatal(said(seen));
      }),
    }),
  }),
  retry: defineWorkflow({
    ...base,
    type: 'retry',
    steps: (step) => ({
      out: step('out', { retry: { maxAttempts: 2, initialMs: 1 } }, (seen) => {
        throw new Error(said(seen));
      }),
    }),
  }),
  poll: defineWorkflow({
    ...base,
    type: 'poll',
    steps: (step) => ({
      out: step('out', { poll: { within: '1m' } }, (seen) => {
        throw new RetryAt(Date.UTC(2030, 0, 1), said(seen));
      }),
    }),
  }),
  ours: defineWorkflow({
    ...base,
    type: 'ours',
    steps: (step) => ({
      out: step('out', (seen) => {
        throw new CairnError('INVALID_INPUT', said(seen));
      }),
    }),
  }),
  degraded: defineWorkflow({
    ...base,
    type: 'degraded',
    steps: (step) => ({ out: step('out', (seen) => degraded(1, said(seen))) }),
  }),
  item: defineWorkflow({
    ...base,
    type: 'item',
    steps: (step) => ({
      out: step.map('out', { over: () => [1, 2] }, (seen) => {
        throw new Fatal(said(seen));
      }),
    }),
  }),
  over: defineWorkflow({
    ...base,
    type: 'over',
    steps: (step) => ({
      out: step.map(
        'out',
        {
          over: (seen): number[] => {
            throw new Error(said(seen));
          },
        },
        () => 1,
      ),
    }),
  }),
  when: defineWorkflow({
    ...base,
    type: 'when',
    steps: (step) => ({
      out: step(
        'out',
        {
          when: (seen): boolean => {
            throw new Error(said(seen));
          },
        },
        () => 1,
      ),
    }),
  }),
  ask: defineWorkflow({
    ...base,
    type: 'ask',
    steps: (step) => ({
      out: step.approval('out', {
        ask: (seen): string => {
          throw new Error(said(seen));
        },
      }),
    }),
  }),
  question: defineWorkflow({
    ...base,
    type: 'question',
    steps: (step) => ({
      out: step.approval('out', { ask: (seen) => ({ question: said(seen), about: [seen.input.token] }) }),
    }),
  }),
  flow: defineWorkflow({
    ...base,
    type: 'flow',
    run: async (flow, seen) => {
      try {
        await flow.step('one', () => {
          throw new Fatal(said({ input: seen }));
        });
      } catch (error) {
        await flow.step('told', () => (error as Error).message);
      }
      throw new Fatal(said({ input: seen }));
    },
  }),
  'degraded-flow': defineWorkflow({
    ...base,
    type: 'degraded-flow',
    steps: (step) => ({
      out: step.flow('out', {}, async (flow, seen) => {
        await flow.step('one', () => 1);
        return degraded(1, said(seen as never));
      }),
    }),
  }),
  undo: defineWorkflow({
    ...base,
    type: 'undo',
    steps: (step) => {
      const first = step(
        'first',
        {
          compensate: (seen) => {
            throw new Fatal(said(seen as never));
          },
        },
        () => 1,
      );
      return {
        out: step('out', { needs: { first } }, () => {
          throw new Fatal('no');
        }),
      };
    },
  }),
  policy: defineWorkflow({
    ...base,
    type: 'policy',
    policy: (seen) => ({
      allowed: false,
      policySnapshotId: 'one',
      reason: said({ input: seen.input as z.infer<typeof input> }),
    }),
    steps: (step) => ({ out: step('out', () => 1) }),
  }),
  call: defineWorkflow({
    ...base,
    type: 'call',
    steps: (step) => ({
      out: step('out', { uses: [send], retry: { maxAttempts: 1 } }, (seen) =>
        seen.perform(send, { to: said(seen) }),
      ),
    }),
  }),
  log: defineWorkflow({
    ...base,
    type: 'log',
    steps: (step) => ({
      out: step('out', (seen) => {
        const fields = {
          [seen.input.token]: 1,
          list: [{ token: seen.input.token }],
          error: new Error(said(seen)),
        };
        seen.log(said(seen), fields);
        seen.log.debug(said(seen), fields);
        const round: Record<string, unknown> = { token: seen.input.token };
        round.round = round;
        seen.log.warn('round', { round });
      }),
    }),
  }),
};

async function told(place: keyof typeof places, given: z.input<typeof input>) {
  const lines: unknown[] = [];
  const note = (event: string, fields: object = {}) => {
    const plain = (_: string, value: unknown) => (value instanceof Error ? `${value.stack}` : value);
    lines.push([event, JSON.stringify(fields, plain)]);
  };
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const world = new World({ workflows: Object.values(places), bindings: [sending] });
  const runId = await world.start(place, given);
  const until = () => place === 'poll' && world.stateOf(runId).steps.size > 0;
  await world.run(until, { ...world.deps, log });
  const run = world.db.runs.get(runId);
  const parts = [run?.snapshot, run?.events, [...(run?.checkpoints.values() ?? [])], [...world.db.effects]];
  const text = JSON.stringify([...parts, lines], (_, value: unknown) =>
    value instanceof Map ? [...value] : value,
  );
  return { text, status: world.stateOf(runId).status, lines };
}

describe('a secret of the input', () => {
  test.each(Object.keys(places) as (keyof typeof places)[])(
    'appears in no document and no log line after it reaches them by %s',
    async (place) => {
      const { text } = await told(place, { token: SECRET });
      expect(text).not.toContain(SECRET);
      expect(text).toContain('[redacted] was refused');
    },
  );

  test('leaves no fragment where a long text is truncated', async () => {
    const texts = ['body', 'retry', 'flow', 'degraded', 'undo', 'policy', 'call'] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...texts),
        fc.oneof(fc.integer({ min: 3_900, max: 4_010 }), fc.integer({ min: 180, max: 210 }), fc.nat(9_000)),
        async (place, before) => {
          const { text } = await told(place, { token: SECRET, before });
          expect(text).not.toContain(SECRET.slice(0, 4));
        },
      ),
      { numRuns: 60 },
    );
  });
});

test('a run without secrets records and logs its errors as they are', async () => {
  const { text, status, lines } = await told('body', { token: 'short' });
  expect(status).toBe('failed');
  expect(text).toContain('short was refused');
  expect(JSON.stringify(lines)).toContain('step_attempt_failed');
});
