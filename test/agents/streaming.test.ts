import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { type AgentModel, runAgent, scriptedModel } from '../../packages/agents/src/index.ts';
import { isTextLine } from '../../packages/cairn/src/core/logs/text.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { MemoryLogStore } from '../support/memory/memory-log-store.ts';
import { World } from '../support/world.ts';

const ANSWER = 'The tide turns twice a day.';

async function shownBy(model: AgentModel, stream: boolean) {
  const world = new World({
    workflows: [
      defineWorkflow({
        type: 'agent',
        planVersion: 1,
        input: z.object({}),
        run: async (flow) => (await runAgent(flow, { model, prompt: 'Go.', stream })).text,
      }),
    ],
  });
  const runId = await world.start('agent');
  await world.run();
  expect(world.stateOf(runId).status).toBe('completed');
  const segments = await new MemoryLogStore(world.db).readLogs(runId, undefined, 100);
  return segments.flatMap(({ lines }) => lines.filter(isTextLine));
}

const shown = [
  { kind: 'attempt', step: 'flow[model]', attempt: 1 },
  { kind: 'text', text: ANSWER, offset: 0 },
  { kind: 'text_end' },
];

test('an agent streams the answer of a model that streams, as it is recorded', async () => {
  expect(await shownBy(scriptedModel([{ text: ANSWER }]), true)).toMatchObject(shown);
});

test('an agent writes the answer of a model that does not stream when it is complete', async () => {
  const model: AgentModel = {
    id: 'mute',
    generate: async () => ({ text: ANSWER, calls: [], finish: 'stop' }),
  };
  expect(await shownBy(model, true)).toMatchObject(shown);
});

test('an agent that does not stream writes no text', async () => {
  expect(await shownBy(scriptedModel([{ text: ANSWER }]), false)).toEqual([]);
});
