import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { inboxItems } from '../../../packages/cairn/src/api/views/inbox.ts';
import { readableValue } from '../../../packages/cairn/src/core/run/readable.ts';
import { listedWaits } from '../../../packages/cairn/src/core/search/listing.ts';
import type { ApprovalOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { planOf } from '../../../packages/cairn/src/engine/plans/plan-of.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type { DecideRequest } from '../../../packages/cairn/src/operations/approvals/request.ts';
import { approvalOf, plainApprovals } from '../../../packages/cairn/src/operations/bulk/question.ts';
import { type ApprovalWait, approvalBlocks } from '../../../packages/cairn/src/triggers/slack/blocks.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

type Options = Partial<ApprovalOptions<unknown, Record<never, never>, unknown>>;

const refund = (options: Options) =>
  defineWorkflow({
    type: 'refund',
    planVersion: 1,
    input: z.unknown(),
    steps(step) {
      const agreed = step.approval('agree', { ask: () => 'Refund?', ...options } as never);
      return { said: step('say', { needs: { agreed } }, ({ agreed }) => agreed) };
    },
  });

const amount = z.object({
  cents: z.number().int().positive(),
  reason: z.enum(['late', 'broken']),
  note: z.string().default('none'),
});

async function asking(options: Options) {
  const world = new World({ workflows: [refund(options)] });
  const runId = await world.start('refund');
  const state = () => assertStored(world.db, runId, Number.POSITIVE_INFINITY);
  await world.run(() => state().status === 'awaiting_approval');
  const decide = (more: Partial<DecideRequest>) =>
    decideApproval(world.deps, {
      ...{ runId, tenantId: 't1', stepId: 'agree', actor: 'c.ada', decision: 'approve', ...more },
    });
  const wait = () => {
    const [open] = state().waits;
    if (!open) throw new Error('nothing is asked');
    return open;
  };
  return { world, runId, state, decide, wait };
}

describe('an approval with a schema', () => {
  test('gives the dependent step the data as its schema returns them', async () => {
    const { world, state, decide } = await asking({ data: amount });
    await decide({ data: { cents: 400, reason: 'late' } });
    await world.run();
    const { result } = state();
    expect(result && 'text' in result && JSON.parse(result.text)).toEqual({
      said: { decision: 'approve', by: 'c.ada', data: { cents: 400, reason: 'late', note: 'none' } },
    });
  });

  test.each<[string, Partial<DecideRequest>, object]>([
    [
      'every issue at once',
      { data: { cents: -1, reason: 'because' } },
      { field: 'data.cents', message: expect.stringMatching(/data\.cents: .*; data\.reason: /) },
    ],
    ['no data', {}, { field: 'data' }],
    ['no data with a waiver', { decision: 'approve_with_waiver', note: 'n' }, { field: 'data' }],
    ['data with a rejection', { decision: 'reject', data: {} }, { field: 'data' }],
    [
      'data that is not JSON',
      { data: { cents: 1, reason: 'late', note: Number.NaN } },
      { field: expect.stringContaining('data') },
    ],
    [
      'too much data',
      { data: { cents: 1, reason: 'late', note: 'x'.repeat(16 * 1024) } },
      { code: 'PAYLOAD_TOO_LARGE', field: 'data' },
    ],
  ])('refuses %s, writes nothing and stays open', async (_, expected, error) => {
    const { state, decide } = await asking({ data: amount });
    const { head } = state();
    await expect(decide(expected)).rejects.toMatchObject({ code: 'INVALID_INPUT', ...error });
    expect(state().head).toBe(head);
    await decide({ data: { cents: 1, reason: 'late' } });
    expect(state().waits).toEqual([]);
  });

  test('refuses data over which a function of the schema throws, without a server error', async () => {
    const data = z.unknown().transform(() => {
      throw new Error('no such customer');
    });
    const { decide } = await asking({ data });
    await expect(decide({ data: 1 })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('no such customer'),
    });
  });

  test('repeats its answer for the same data, and refuses other data', async () => {
    const { decide } = await asking({ data: amount });
    const first = await decide({ data: { cents: 400, reason: 'late' } });
    expect(await decide({ data: { reason: 'late', cents: 400 } })).toEqual(first);
    await expect(decide({ data: { cents: 500, reason: 'late' } })).rejects.toMatchObject({
      code: 'APPROVAL_DECIDED',
    });
  });

  test('can be rejected without data', async () => {
    const { world, state, decide } = await asking({ data: amount });
    await decide({ decision: 'reject' });
    await world.run();
    expect(state()).toMatchObject({ status: 'failed', error: { code: 'APPROVAL_REJECTED' } });
  });

  test('shows its schema with the wait and in the inbox, but not in lists', async () => {
    const { state, wait } = await asking({ data: amount });
    const schema = JSON.parse(wait().dataSchemaText ?? 'null');
    expect(schema).toMatchObject({ type: 'object', required: ['cents', 'reason'] });
    const question = {
      kind: 'approval' as const,
      step: 'agree',
      openedAt: 0,
      wait: wait(),
      answers: ['approve' as const],
    };
    const [item] = inboxItems({ run: state(), questions: [question], more: 0 });
    expect(item?.dataSchema).toEqual(schema);
    expect(listedWaits(state().waits).first[0]).not.toHaveProperty('dataSchemaText');
  });

  test.each([
    ['too long', z.object({ [`x${'y'.repeat(9_000)}`]: z.string() })],
    ['not convertible', { safeParse: () => ({ success: true, data: 1 }) } as never],
  ])('is any value in JSON Schema if its own schema is %s', async (_, data) => {
    const { wait } = await asking({ data });
    expect(wait().dataSchemaText).toBe('{}');
  });

  test('has no approval button in Slack', async () => {
    const { runId, wait } = await asking({ data: amount });
    const shown = readableValue(wait()) as unknown as ApprovalWait;
    const text = JSON.stringify(approvalBlocks({ runId, type: 'refund', wait: shown }));
    expect(text).not.toContain('"Approve"');
    expect(text).toContain('"Reject"');
    expect(text).toContain('approve it in the console');
  });

  test('is not approved by its expiry', () => {
    expect(() => refund({ data: amount, timeout: '1h', onExpiry: 'approve' })).toThrow(/'data'.*onExpiry/);
  });

  test('has another plan fingerprint than one without a schema or with another schema', () => {
    const fingerprints = [{}, { data: amount }, { data: z.string() }].map(
      (options) => planOf(refund(options)).fingerprint,
    );
    expect(new Set(fingerprints).size).toBe(3);
  });
});

test('an approval with a schema is not approved in bulk', async () => {
  const { world, state, wait } = await asking({ data: amount });
  const deployed = { registry: world.deps.registry, bindings: world.deps.bindings };
  const now = world.clock.now();
  expect(plainApprovals(state(), deployed, { now })).toEqual([]);
  const target = { runId: state().id, stepId: 'agree', waitId: wait().id };
  expect(() => approvalOf(state(), deployed, { target, now })).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', help: expect.stringContaining('data') }),
  );
});

test('an approval without a schema refuses data', async () => {
  const { decide } = await asking({});
  await expect(decide({ data: {} })).rejects.toMatchObject({ code: 'INVALID_INPUT', field: 'data' });
});

describe('the list of people who are asked', () => {
  test('is shown in the inbox', async () => {
    const { state, wait } = await asking({ ask: () => ({ question: 'Refund?', to: ['Finance', 'Bo'] }) });
    const question = { kind: 'approval' as const, step: 'agree', openedAt: 0, wait: wait(), answers: [] };
    expect(inboxItems({ run: state(), questions: [question], more: 0 })).toMatchObject([
      { question: 'Refund?', to: ['Finance', 'Bo'] },
    ]);
  });

  test.each([[[]], [['']], ['Finance'], [['x'.repeat(101)]], [Array(21).fill('x')]])(
    'must contain names: the step fails for %j',
    async (to) => {
      const world = new World({
        workflows: [refund({ ask: () => ({ question: 'Refund?', to: to as never }) })],
      });
      const runId = await world.start('refund');
      await world.run();
      expect(assertStored(world.db, runId)).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining("'to'") },
      });
    },
  );
});
