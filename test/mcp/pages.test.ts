import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { Stage } from '../cli/support/stage.ts';
import { Agent } from './agent.ts';

const RUNS = 40;

/** The row of a run, and its question, are as large as they can be. */
const wordy = defineWorkflow({
  type: 'wordy',
  planVersion: 1,
  input: z.object({ at: z.number() }),
  tags: () =>
    Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`${'n'.repeat(40)}${i}`, '界'.repeat(200)])),
  steps: (step) => ({ ask: step.approval('ask', { ask: () => '📦'.repeat(900) }) }),
});

test.each([
  ['list_questions', 'runId'],
  ['list_runs', 'id'],
])('%s shows each run once, page by page, however large the runs are', async (tool, name) => {
  const stage = new Stage([wordy]);
  const agent = await Agent.of(stage);
  const started: string[] = [];
  for (let at = 0; at < RUNS; at += 1) {
    const { data } = await agent.act('start_run', { type: 'wordy', input: { at } });
    started.push(data.runId);
  }
  await stage.drive();
  const shown: string[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await agent.call(tool, { limit: 50, ...(cursor === undefined ? {} : { cursor }) });
    shown.push(...data.items.map((item: Record<string, string>) => item[name]));
    cursor = data.next;
  } while (cursor !== undefined);
  expect(shown.toSorted()).toEqual(started.toSorted());
});
