import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type {
  AnswerSchemas,
  FlowApprovalOptions,
} from '../../../packages/cairn/src/engine/define/flow/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';

const amount = z.object({ cents: z.number().int().positive(), note: z.string().default('none') });

async function asking(answers: AnswerSchemas | undefined, options: FlowApprovalOptions = {}) {
  const workflow = defineWorkflow({
    type: 'refund',
    planVersion: 1,
    input: z.object({}),
    ...(answers ? { answers } : {}),
    run: async (flow) => {
      const given: unknown[] = [];
      for (const question of ['First?', 'Second?'])
        given.push(await flow.approval('agree', question, options));
      return JSON.stringify(given);
    },
  });
  const runtime = createTestRuntime({ workflows: [workflow] });
  const run = await runtime.start('refund', {});
  await runtime.settle();
  return { runtime, run };
}

describe('an approval of a flow with a schema', () => {
  test('gives the code the data as its schema returns them, also under a numbered name', async () => {
    const { runtime, run } = await asking({ agree: amount });
    await runtime.decide(run, 'approve', { data: { cents: 400 } });
    await runtime.settle();
    await runtime.decide(run, 'approve_with_waiver', { note: 'once', data: { cents: 1, note: 'n' } });
    expect(await runtime.runToEnd(run)).toBe('completed');
    const { output } = (await run.result()) as { output: string };
    expect(JSON.parse(output)).toEqual([
      expect.objectContaining({ decision: 'approve', data: { cents: 400, note: 'none' } }),
      expect.objectContaining({ note: 'once', data: { cents: 1, note: 'n' } }),
    ]);
  });

  test('shows the schema with the wait', async () => {
    const { run } = await asking({ agree: amount });
    expect(JSON.parse(run.state().waits[0]?.dataSchemaText ?? 'null')).toMatchObject({ required: ['cents'] });
  });

  test.each([
    ['data that does not fit', { agree: amount }, { cents: -1 }, 'data.cents'],
    ['no data', { agree: amount }, undefined, 'data'],
    ['data where the flow has no schema', undefined, { cents: 1 }, 'data'],
    ['data where it has one for another name', { release: amount }, { cents: 1 }, 'data'],
  ])('refuses %s, and stays open', async (_, answers, data, field) => {
    const { runtime, run } = await asking(answers);
    const decided = runtime.decide(run, 'approve', data === undefined ? {} : { data });
    await expect(decided).rejects.toMatchObject({ code: 'INVALID_INPUT', field, stepId: 'flow[agree]' });
    expect(run.state().waits).toHaveLength(1);
  });

  test('is not approved by its expiry', async () => {
    const { run } = await asking({ agree: amount }, { timeout: '1h', onExpiry: 'approve' });
    expect(run.error()).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining("'data'") });
  });
});

test.each<[string, unknown, string]>([
  ['a list', [amount], `'answers' names approvals`],
  ['a shape that is no schema', { agree: { cents: 'number' } }, `'answers.agree' is a Zod schema`],
  ['a name that no operation has', { 'agree.2': amount }, `in 'answers' `],
])('a flow refuses %s for answers', (_, answers, message) => {
  const define = () =>
    defineWorkflow({
      type: 'refund',
      planVersion: 1,
      input: z.object({}),
      answers: answers as never,
      run: async () => null,
    });
  expect(define).toThrow(message);
});

test('flow.approval refuses a schema in its options, and names the right place', async () => {
  const { run } = await asking(undefined, { data: amount } as never);
  expect(run.error()?.message).toContain(`declare the schema in 'answers' of the flow: { agree: schema }`);
});
