import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { BudgetOptions } from '../../../packages/cairn/src/core/budget/day-limits.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';
import { writeSnippets } from '../snippets.ts';

const snippets = writeSnippets('docs/budgets.md');
afterAll(() => snippets.remove());

test('the research of docs/budgets.md asks before a call that exceeds its budget, and continues when it is raised', async () => {
  const { research } = (await import(snippets.at('functions/src/workflows/research.ts'))) as {
    research: (ask: () => Promise<object>) => Workflow;
  };
  let calls = 0;
  const workflow = research(async () => {
    calls += 1;
    return { text: `note ${calls}`, isFinal: calls === 25, tokens: { input: 15_000, output: 3_000 } };
  });
  const runtime = createTestRuntime({ workflows: [workflow] });
  const run = await runtime.start('research', { question: 'why' });
  await runtime.settle();
  // Each costs 9 cents: after 22 there are 2 cents left, and the next may need 10.
  expect([run.status(), calls]).toEqual(['awaiting_approval', 22]);
  await runtime.decide(run, 'approve', { raise: { usd: 1 } });
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(calls).toBe(25);
});

test('the budgets of docs/budgets.md apply to all runs of a tenant, which continue the next day', async () => {
  const { budgets } = (await import(snippets.at('functions/src/budgets.ts'))) as { budgets: BudgetOptions };
  const workflow = defineWorkflow({
    type: 'costly',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      ask: step('ask', { estimate: { usd: 20 } }, async ({ usage }) => usage({ usd: 20 })),
    }),
  });
  const runtime = createTestRuntime({ workflows: [workflow], budgets, now: '2026-11-23T09:00:00Z' });
  const runs = [await runtime.start('costly'), await runtime.start('costly'), await runtime.start('costly')];
  // The third call waits until the others have settled, and then asks.
  await runtime.advance('10m');
  expect(runs.map((run) => run.status()).sort()).toEqual(['awaiting_approval', 'completed', 'completed']);
  await runtime.advance('15h');
  expect(runs.map((run) => run.status())).toEqual(['completed', 'completed', 'completed']);
});
