/** The installation's policy about calls: it allows, has a person asked, or forbids, without the workflow knowing. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { capabilitiesOf, defineTool, runAgent, scriptedModel } from '../../../packages/agents/src/index.ts';
import {
  type CallPolicy,
  type CallQuestion,
  defineBinding,
  defineCapability,
  defineWorkflow,
} from '../../../packages/cairn/src/index.ts';
import { checkOptions } from '../../../packages/cairn/src/platform/installation/options.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';

const pay = defineCapability({
  id: 'bank.pay',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ cents: z.number() }),
  response: z.object({ done: z.boolean() }),
});

/** A run whose step pays, or pays and is undone by paying back. */
async function paying(
  callPolicy: CallPolicy | undefined,
  cents = 900,
  { fails = false, idempotent = true } = {},
) {
  const paid: number[] = [];
  const binding = defineBinding(pay, {
    id: 'bank.pretended',
    call: async (request) => {
      paid.push(request.cents);
      return { done: true };
    },
  });
  const workflow = defineWorkflow({
    type: 'pay',
    planVersion: 1,
    input: z.object({ cents: z.number() }),
    steps: (step) => {
      const one = step(
        'pay',
        {
          uses: [pay],
          idempotent,
          retry: { maxAttempts: 2, initialMs: 1_000 },
          ...(fails && {
            compensate: async ({ perform }) => {
              await perform(pay, { cents: -cents });
            },
          }),
        },
        ({ input, perform }) => perform(pay, { cents: input.cents }),
      );
      const two = step('after', { needs: { one }, retry: { maxAttempts: 1 } }, () => {
        if (fails) throw new Error('broken');
        return 'paid';
      });
      return { two };
    },
  });
  const runtime = createTestRuntime({
    workflows: [workflow],
    bindings: [binding],
    ...(callPolicy && { callPolicy }),
  });
  const run = await runtime.start('pay', { cents });
  return { runtime, run, paid };
}

const overFive: CallPolicy = ({ request }) =>
  (request as { cents: number }).cents > 500
    ? { decision: 'ask', reason: 'more than 5 euros', who: 'finance' }
    : { decision: 'allow' };

describe('a call policy', () => {
  test('receives the capability, the caller, and a copy of the request', async () => {
    const requests: CallQuestion[] = [];
    const { runtime, run, paid } = await paying((call) => {
      requests.push(structuredClone(call));
      Object.assign(call.request as object, { cents: 1 });
      return { decision: 'allow' };
    });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(paid).toEqual([900]);
    expect(requests).toEqual([
      {
        capabilityId: 'bank.pay',
        sideEffects: 'external_action',
        request: { cents: 900 },
        step: 'pay',
        runId: run.id,
        type: 'pay',
        tenantId: expect.any(String),
        environment: expect.any(String),
      },
    ]);
  });

  test('has a person asked with its reason before the call; a permission is kept', async () => {
    const { runtime, run, paid } = await paying(overFive);
    await runtime.runUntilBlocked(run);
    expect(run.status()).toBe('awaiting_approval');
    expect(paid).toEqual([]);
    const [wait] = run.state().waits;
    expect(wait?.detailText).toContain('finance: more than 5 euros');
    expect(run.effects()).toMatchObject([
      { status: 'blocked', blockedBy: 'confirmation', policyReason: 'finance: more than 5 euros' },
    ]);
    await runtime.resolve(run, 're-execute');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(paid).toEqual([900]);
  });

  test('that allows a call asks nothing', async () => {
    const { runtime, run, paid } = await paying(overFive, 400);
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(paid).toEqual([400]);
  });

  test('forbids a call: the step fails at once with the reason', async () => {
    const { runtime, run, paid } = await paying(() => ({
      decision: 'deny',
      reason: 'the account is closed',
    }));
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.state().error).toMatchObject({
      code: 'EFFECT_FORBIDDEN',
      message: expect.stringContaining('the account is closed'),
    });
    expect(paid).toEqual([]);
    expect(run.journal().filter(({ type }) => type === 'step_retry_scheduled')).toEqual([]);
  });

  test.each<[string, CallPolicy]>([
    ['throws', () => Promise.reject(new Error('no connection'))],
    ['returns no decision', () => ({}) as never],
    ['asks without a reason', () => ({ decision: 'ask' }) as never],
  ])('that %s allows no call: the attempt fails and is retried', async (_, policy) => {
    let times = 0;
    const { runtime, run, paid } = await paying((call) => {
      times += 1;
      return times === 1 ? policy(call) : { decision: 'allow' };
    });
    await runtime.runUntilBlocked(run);
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect([times, paid]).toEqual([2, [900]]);
  });

  test('does not apply to compensations', async () => {
    const { runtime, run, paid } = await paying(
      ({ request }) =>
        (request as { cents: number }).cents < 0 ? { decision: 'deny', reason: 'no' } : { decision: 'allow' },
      900,
      { fails: true },
    );
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(paid).toEqual([900, -900]);
  });

  test('cannot ask in a step that must not run twice: the call is refused', async () => {
    const { runtime, run, paid } = await paying(overFive, 900, { idempotent: false });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.state().error).toMatchObject({ code: 'EFFECT_FORBIDDEN' });
    expect(paid).toEqual([]);
  });
});

test('an agent receives the refusal of a policy, and continues', async () => {
  const tools = [defineTool({ name: 'pay', description: 'Pays.', capability: pay })];
  const agent = defineWorkflow({
    type: 'agent',
    planVersion: 1,
    input: z.object({}),
    uses: capabilitiesOf(tools),
    run: async (flow) => {
      const model = scriptedModel([
        { calls: [{ name: 'pay', input: { cents: 900 } }] },
        (messages) => ({ text: JSON.stringify(messages.at(-1)) }),
      ]);
      return (await runAgent(flow, { model, tools, prompt: 'Pay.' })).text;
    },
  });
  const steps: string[] = [];
  const binding = defineBinding(pay, { id: 'bank.never', call: () => Promise.reject(new Error('called')) });
  const runtime = createTestRuntime({
    workflows: [agent],
    bindings: [binding],
    callPolicy: ({ step }) => {
      steps.push(step);
      return { decision: 'deny', reason: 'agents do not pay' };
    },
  });
  const run = await runtime.start('agent', {});
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(JSON.stringify(await run.result())).toContain('agents do not pay');
  expect(steps).toEqual(['flow[pay]']);
});

test('a policy that is not a function is refused when the functions are loaded', () => {
  expect(() => checkOptions({ workflows: [], callPolicy: 'deny' as never })).toThrow(/callPolicy/);
});
