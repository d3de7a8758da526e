import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type AgentModel, MAX_TURNS, scriptedModel } from '../../../packages/agents/src/index.ts';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';
import { readDocument, writeSnippets } from '../snippets.ts';

const snippets = writeSnippets('docs/agents.md');
afterAll(() => snippets.remove());

test('the agent of docs/agents.md refunds once, and a large sum only after an approval', async () => {
  const { refundAgent } = (await import(snippets.at('functions/src/workflows/refund-agent.ts'))) as {
    refundAgent: (model: AgentModel, orders: unknown, refund: unknown) => Workflow;
  };
  const refund = defineCapability({
    id: 'shop.refund',
    sideEffects: 'external_action',
    idempotency: 'required',
    request: z.object({ order: z.string(), cents: z.number() }),
    response: z.object({ refundId: z.string() }),
  });
  const refunded = new Set<string>();
  const binding = defineBinding(refund, {
    id: 'shop-stand-in',
    call: async ({ order }, { idempotencyKey }) => {
      refunded.add(idempotencyKey);
      return { refundId: `refund of ${order}` };
    },
  });
  const model = scriptedModel([
    { calls: [{ name: 'orders', input: { customer: 'ada' } }] },
    { calls: [{ name: 'refund', input: { order: 'o-1', cents: 9_000 } }] },
    { text: 'You get your money back.' },
  ]);
  const workflow = refundAgent(model, async () => [{ id: 'o-1', cents: 9_000 }], refund);
  const runtime = createTestRuntime({ workflows: [workflow], bindings: [binding] });
  const run = await runtime.start('refund-agent', { customer: 'ada', letter: 'Where is my parcel?' });
  await runtime.runUntilBlocked(run);
  expect(refunded.size).toBe(0);
  runtime.crashAfter('flow[refund]');
  await runtime.decide(run, 'approve', { step: 'flow[approve-refund]' });
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(await run.result()).toMatchObject({ output: { text: 'You get your money back.' } });
  expect(refunded.size).toBe(1);
});

test('docs/agents.md states the maximum number of turns', () => {
  expect(readDocument('docs/agents.md')).toContain(`| \`maxTurns\` | ${MAX_TURNS} |`);
});
