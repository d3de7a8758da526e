import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { StepFactory } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { planOf } from '../../../packages/cairn/src/engine/plans/plan-of.ts';
import { shapeOf } from '../../../packages/cairn/src/engine/plans/shape.ts';

type Steps = (step: StepFactory<{ readonly files: string[] }>) => Record<string, { readonly id: string }>;

const INPUT = z.object({ files: z.array(z.string()) });
const mail = defineCapability({
  id: 'mail.send',
  sideEffects: 'write',
  idempotency: 'required',
  request: z.unknown(),
  response: z.unknown(),
});

function fingerprint(steps: Steps, more: object = {}): string {
  return planOf(defineWorkflow({ type: 'work', planVersion: 1, input: INPUT, steps, ...more })).fingerprint;
}

const plain = fingerprint((step) => ({ a: step('a', () => 1) }));

test.each<[string, Steps, object?]>([
  ['another body', (step) => ({ a: step('a', async () => 2) })],
  [
    'timeouts and retries',
    (step) => ({ a: step('a', { timeout: '5s', retry: { maxAttempts: 9 } }, () => 1) }),
    { timeout: '1h' },
  ],
  ['defaults that are spelt out', (step) => ({ a: step('a', { idempotent: true, uses: [] }, () => 1) })],
  [
    'triggers and retention',
    (step) => ({ a: step('a', () => 1) }),
    { on: { github: { event: 'push' } }, retention: { completed: '30d' } },
  ],
  ['another version', (step) => ({ a: step('a', () => 1) }), { planVersion: 2 }],
  [
    'checks and descriptions of a schema',
    (step) => ({ a: step('a', () => 1) }),
    { input: z.object({ files: z.array(z.string().max(10)).describe('paths') }) },
  ],
])('%s does not change the fingerprint', (_, steps, ...more) => {
  expect(fingerprint(steps, ...more)).toBe(plain);
});

test.each<[string, Steps, object?]>([
  ['an id', (step) => ({ a: step('b', () => 1) })],
  ['the name of a result', (step) => ({ b: step('a', () => 1) })],
  ['a kind', (step) => ({ a: step.approval('a', { ask: () => 'ok?' }) })],
  ['a condition', (step) => ({ a: step('a', { when: () => true }, () => 1) })],
  ['idempotent', (step) => ({ a: step('a', { idempotent: false }, () => 1) })],
  [
    'that a new attempt may follow',
    (step) => ({ a: step('a', { idempotent: false, newAttempt: true }, () => 1) }),
  ],
  ['resumable', (step) => ({ a: step('a', { resumable: false }, () => 1) })],
  ['reads', (step) => ({ a: step('a', { reads: ['files'] }, () => 1) })],
  ['ifSkipped', (step) => ({ a: step('a', { ifSkipped: 'run' }, () => 1) })],
  ['onFailure', (step) => ({ a: step('a', { onFailure: 'skip' }, () => 1) })],
  ['a capability', (step) => ({ a: step('a', { uses: [mail] }, () => 1) })],
  ['a compensation', (step) => ({ a: step('a', { compensate: () => {} }, () => 1) })],
  ['an output', (step) => ({ a: step('a', { output: z.number() }, () => 1) })],
  [
    'a policy of a step',
    (step) => ({ a: step('a', { policy: () => ({ allowed: true, policySnapshotId: 'p' }) }, () => 1) }),
  ],
  ['a set', (step) => ({ a: step.map('a', { over: ({ input }) => input.files }, () => 1) })],
  ['a sleep', (step) => ({ a: step.sleep('a', { for: '1h' }) })],
  ['onDoubt', (step) => ({ a: step('a', () => 1) }), { onDoubt: 'ask' }],
  [
    'a member of the input',
    (step) => ({ a: step('a', () => 1) }),
    { input: INPUT.extend({ more: z.string() }) },
  ],
])('%s changes the fingerprint', (_, steps, ...more) => {
  expect(fingerprint(steps, ...more)).not.toBe(plain);
});

test.each<[string, Steps, Steps]>([
  [
    'the name of an event',
    (step) => ({ a: step.event('a', { event: 'paid', key: () => 'k' }) }),
    (step) => ({ a: step.event('a', { event: 'sent', key: () => 'k' }) }),
  ],
  [
    'the type of a child',
    (step) => ({ a: step.child('a', { workflow: 'one', input: () => ({}) }) }),
    (step) => ({ a: step.child('a', { workflow: 'two', input: () => ({}) }) }),
  ],
  [
    'the completion of a set',
    (step) => ({ a: step.map('a', { over: () => [1], completion: { tolerate: 1 } }, () => 1) }),
    (step) => ({ a: step.map('a', { over: () => [1], completion: { tolerate: 2 } }, () => 1) }),
  ],
  [
    'what becomes of an approval that nobody answers',
    (step) => ({ a: step.approval('a', { ask: () => 'ok?' }) }),
    (step) => ({ a: step.approval('a', { ask: () => 'ok?', onExpiry: 'approve' }) }),
  ],
])('%s is part of the fingerprint', (_, one, other) => {
  expect(fingerprint(one)).not.toBe(fingerprint(other));
});

test('shapes of schemas have members and kinds, and opaque schemas are harmless', () => {
  const self = z.object({
    name: z.string(),
    get inner() {
      return self.optional();
    },
  });
  expect(
    shapeOf(
      z.object({
        a: z.string().min(3).optional(),
        b: z.union([z.literal('x'), z.null()]),
        c: z.record(z.string(), z.array(z.number())),
        d: z.string().transform(Number),
        e: z.tuple([z.boolean()]).readonly(),
      }),
    ),
  ).toEqual({
    a: ['optional', 'string'],
    b: ['union', 'literal', 'null'],
    c: ['record', 'string', ['array', 'number']],
    d: ['pipe', 'string', 'transform'],
    e: ['tuple', 'boolean'],
  });
  expect(JSON.stringify(shapeOf(self)).length).toBeLessThan(1_000);
  const broken = {
    _zod: {
      def: {
        type: 'object',
        shape: {
          get a() {
            throw new Error('no');
          },
        },
      },
    },
  };
  for (const odd of [undefined, null, 1, { safeParse() {} }, broken]) expect(shapeOf(odd)).toBe('unknown');
});
