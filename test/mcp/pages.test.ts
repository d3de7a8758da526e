import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { Stage } from '../cli/support/stage.ts';
import { Agent } from './agent.ts';

const RUNS = 40;

/** Runs whose row and question have maximum size. */
const wordy = defineWorkflow({
  type: 'wordy',
  planVersion: 1,
  input: z.object({ at: z.number() }),
  tags: () =>
    Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`${'n'.repeat(40)}${i}`, '界'.repeat(200)])),
  steps: (step) => ({ ask: step.approval('ask', { ask: () => '📦'.repeat(900) }) }),
});

/** Asks several people at once, and has a large result. */
const wide = defineWorkflow({
  type: 'wide',
  planVersion: 1,
  input: z.object({ questions: z.number(), outputs: z.array(z.string()) }),
  run: async (flow, { questions, outputs }) => {
    const results = await flow.map('item', outputs, ({ item }) => item);
    const ids = Array.from({ length: questions }, (_, i) => `ask-${i}`);
    await Promise.all(ids.map((id) => flow.approval(id, 'Ready?')));
    return results;
  },
});

/** All items of a tool that lists. */
async function allOf(agent: Agent, tool: string, args: Record<string, unknown> = {}) {
  const shown: Record<string, string>[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await agent.call(tool, { ...args, limit: 50, ...(cursor !== undefined && { cursor }) });
    shown.push(...data.items);
    cursor = data.next;
  } while (cursor !== undefined);
  return shown;
}

test.each([
  ['list_questions', 'runId'],
  ['list_runs', 'id'],
])('%s shows each run once over all pages, even if the runs are large', async (tool, name) => {
  const stage = new Stage([wordy]);
  const agent = await Agent.of(stage);
  const started: string[] = [];
  for (let at = 0; at < RUNS; at += 1) {
    const { data } = await agent.act('start_run', { type: 'wordy', input: { at } });
    started.push(data.runId);
  }
  await stage.drive();
  const shown = await allOf(agent, tool);
  expect(shown.map((item) => item[name]).toSorted()).toEqual(started.toSorted());
});

test('list_questions shows each question once, even if runs have many questions', async () => {
  const stage = new Stage([wide]);
  const agent = await Agent.of(stage);
  const counts = [15, 1, 20, 14, 19, 20, 20, 7];
  const expected: string[] = [];
  for (const questions of counts) {
    const { data } = await agent.act('start_run', { type: 'wide', input: { questions, outputs: [] } });
    expected.push(...Array.from({ length: questions }, (_, i) => `${data.runId} flow[ask-${i}]`));
  }
  await stage.drive();
  const shown = await allOf(agent, 'list_questions');
  expect(shown.map(({ runId, step }) => `${runId} ${step}`).toSorted()).toEqual(expected.toSorted());
});

test('list_workflows shows each workflow once', async () => {
  const stage = new Stage(
    Array.from({ length: 120 }, (_, i) =>
      defineWorkflow({
        type: `type-${i}`,
        planVersion: 1,
        input: z.object({}),
        steps: (step) => ({ one: step('one', () => i) }),
      }),
    ),
  );
  const shown = await allOf(await Agent.of(stage), 'list_workflows');
  expect(shown.map(({ type }) => type)).toEqual(
    Array.from({ length: 120 }, (_, i) => `type-${i}`).toSorted(),
  );
});

const text = fc.array(fc.constantFrom('a', '"', '界', '📦'), { minLength: 1, maxLength: 4 });
const anyOutputs = fc.array(fc.tuple(text, fc.nat({ max: 6_000 })), { maxLength: 60 });

test('get_run names truncated parts, which the other tools show whole', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 130 }), anyOutputs, async (questions, parts) => {
      const stage = new Stage([wide]);
      const agent = await Agent.of(stage);
      const outputs = parts.map(([part, times]) => part.join('').repeat(times));
      const { data: started } = await agent.act('start_run', { type: 'wide', input: { questions, outputs } });
      const { runId } = started;
      await stage.drive();
      const { data, text: said } = await agent.call('get_run', { runId });
      const kinds = {
        steps: { shown: data.steps, count: outputs.length + questions + 1 },
        waits: { shown: data.run.waits, count: questions },
        events: { shown: data.newestEvents, count: data.run.head },
      };
      for (const [kind, { shown, count }] of Object.entries(kinds)) {
        const all = await allOf(agent, 'list_run_items', { runId, kind });
        const names = new Set(all.map(({ seq, id }) => seq ?? id));
        expect([names.size, all.length, data.more[kind]]).toEqual([count, count, shown.length < count]);
      }
      const isMore = data.more.steps || data.more.waits;
      expect(said.includes('list_run_items')).toBe(isMore);
      const read = { text: '', offset: 0 as number | undefined };
      while (read.offset !== undefined) {
        const { data: part } = await agent.call('read_value', { runId, of: 'input', offset: read.offset });
        expect(part.excerpt.isWellFormed()).toBe(true);
        read.text += part.excerpt;
        read.offset = part.next;
      }
      expect(JSON.parse(read.text)).toEqual({ questions, outputs });
      if (read.text.length > 40_000) expect(said).toContain('read_value has the whole input');
    }),
    { numRuns: 12 },
  );
});
