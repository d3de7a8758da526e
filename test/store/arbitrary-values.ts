/** Arbitraries of the parts of stored documents. */
import fc from 'fast-check';
import type { Json } from '../../packages/cairn/src/core/encoding/json.ts';
import {
  DECISIONS,
  type PayloadRef,
  type RecordedError,
  type StepExecution,
  type StepRef,
  type StoredValue,
  type Wait,
} from '../../packages/cairn/src/core/run/events.ts';

export const text = fc.string({ unit: 'grapheme', maxLength: 12 });
export const count = fc.nat({ max: 10_000 });
/** Two days before the last Timestamp, because `wakeAt` is later than the times from which it is computed. */
const LATEST = 253_402_300_799_999 - 2 * 86_400_000;
export const time = fc.oneof(fc.nat({ max: LATEST }), fc.constantFrom(0, 999, 1_000, LATEST));
export const attempt = fc.integer({ min: 1, max: 9 });
export const flag = fc.boolean();
/** JSON without -0, which JSON text does not distinguish from 0. */
export const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);

/** Any combination of present and absent members. */
export function withOptional<T extends object, O extends object>(
  required: { [K in keyof T]: fc.Arbitrary<T[K]> },
  optional: { [K in keyof O]: fc.Arbitrary<O[K]> },
): fc.Arbitrary<T & Partial<O>> {
  const all = { ...required, ...optional };
  return fc.record(all, {
    requiredKeys: Object.keys(required) as never[],
    noNullPrototype: true,
  }) as unknown as fc.Arbitrary<T & Partial<O>>;
}

/** Objects with the usual prototype. */
export function plain<T>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(members, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

/** One of these words. */
export function word<const T extends string>(...words: readonly T[]): fc.Arbitrary<T> {
  return fc.constantFrom(...words);
}

export const recordedError: fc.Arbitrary<RecordedError> = withOptional(
  { code: text, message: text, retryable: flag },
  { stepId: text, trace: text },
);
export const storedValue: fc.Arbitrary<StoredValue> = fc.oneof(
  plain({ text: fc.json() }),
  plain({ checkpoint: fc.integer({ min: 1, max: 9_999 }) }),
);
export const payloadRef: fc.Arbitrary<PayloadRef> = plain({ sha256: text, bytes: count, chunks: count });
export const tokensUsed = plain({ input: count, output: count });
/** Money and tokens of an attempt. */
export const cost = withOptional({}, { microUsd: count, tokens: count });
export const budgetLimits = withOptional(
  {},
  { microUsd: count, tokens: count, effects: count, operations: count, wallClockMs: count },
);
export const decision = word(...DECISIONS);
export const stopKind = word('user', 'system', 'policy', 'halt');
export const onParentEnd = word('cancel', 'abandon', 'wait');
export const mode = word('resume', 'replay', 'fork');

/** Identity of a run in its first event and its snapshot. */
export const identityMembers = {
  tenantId: text,
  environment: text,
  type: text,
  planVersion: count,
  threadId: text,
  trigger: withOptional(
    { source: word('ui', 'cli', 'webhook', 'scheduled', 'api') },
    { userId: text, webhookEventId: text },
  ),
  traceId: text,
  inputHash: text,
  input: storedValue,
  rootRunId: text,
};
export const identityOptions = {
  repoId: text,
  prId: text,
  prUrl: text,
  tags: fc.array(fc.string(), { maxLength: 3 }),
  idempotencyKey: text,
  a2aCorrelationId: text,
  traceSampled: fc.boolean(),
  resumedFrom: text,
  inputFrom: plain({ runId: text, checkpoint: count }),
  secretInput: plain({ runId: text, sha256: text, bytes: count, chunks: count }),
  source: withOptional(
    { runId: text, mode },
    { checkpointId: text, stepId: text, forcedBy: text, signals: fc.constant('carry' as const) },
  ),
  effectScopes: fc.array(plain({ runId: text, mode: word('replay', 'fork') }), { maxLength: 2 }),
  parent: plain({ runId: text, stepId: text }),
  versions: withOptional({}, { capabilities: text, bindings: text, registryRef: text }),
};

export const refMembers = { stepId: text, revision: attempt };
export const executionMembers = {
  ...refMembers,
  kind: word('step', 'map', 'approval', 'event', 'sleep', 'child'),
  attempt,
  inputsHash: text,
  startedAt: time,
};
export const stepRef: fc.Arbitrary<StepRef> = withOptional(refMembers, { itemKey: text });
export const execution: fc.Arbitrary<StepExecution> = withOptional(executionMembers, {
  itemKey: text,
  request: text,
  location: text,
});

const open = { id: text, execution, openedAt: time };
const announced = fc.constant(true as const);
const openOptions = { dueAt: time, announced };
const question = { ...open, kind: word('approval'), detailText: fc.json() };
export const wait: fc.Arbitrary<Wait> = fc.oneof(
  withOptional({ ...open, kind: word('timer'), dueAt: time }, { announced }),
  withOptional(
    { ...open, kind: word('event'), name: text, key: text },
    {
      ...openOptions,
      expectedAt: time,
      heartbeat: withOptional({ withinMs: count }, { lastAt: time, timeoutAt: time }),
    },
  ),
  withOptional({ ...open, kind: word('child'), child: plain({ runId: text, onParentEnd }) }, openOptions),
  withOptional(question, { ...openOptions, purpose: word('doubt') }),
  withOptional({ ...question, purpose: word('budget') }, { ...openOptions, day: text }),
  withOptional({ ...question, purpose: word('effect'), effectId: text }, openOptions),
);
