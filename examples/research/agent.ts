/**
 * An agent that searches for sources, writes a report and publishes it if a person agrees. The model is scripted, so that it runs without
 * a network; replace it with `aiSdkModel(…)` or `genkitModel(…)`.
 */
import { type AgentModel, capabilitiesOf, defineTool, runAgent, scriptedModel } from '@cairn/agents';
import { defineBinding, defineCapability, defineWorkflow } from 'cairn';
import { z } from 'zod';

const SOURCES: Readonly<Record<string, string>> = {
  'tides-1': 'Tides follow the moon: two highs in 24 hours and 50 minutes.',
  'tides-2': 'The range of tides is largest at the spring tide, when sun and moon stand in a line.',
  'bees-1': 'A bee visits some hundred flowers on one flight.',
};

export const publish = defineCapability({
  id: 'research.publish',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ title: z.string(), text: z.string(), audience: z.enum(['team', 'public']) }),
  response: z.object({ url: z.string() }),
});

/** A simulated publisher. */
export const pretendedPublisher = defineBinding(publish, {
  id: 'research.pretended',
  call: async ({ title }) => ({ url: `https://reports.example/${title.toLowerCase().replaceAll(' ', '-')}` }),
});

export const tools = [
  defineTool({
    name: 'search',
    description: 'Finds sources by a word. Returns their ids.',
    input: z.object({ word: z.string().min(1) }),
    run: ({ word }) => Object.keys(SOURCES).filter((id) => id.startsWith(word.toLowerCase())),
  }),
  defineTool({
    name: 'read',
    description: 'Reads a source by its id.',
    input: z.object({ id: z.string() }),
    run: ({ id }) => {
      const text = SOURCES[id];
      if (text === undefined) throw new Error(`there is no source '${id}'`);
      return text;
    },
  }),
  defineTool({
    name: 'publish',
    description: 'Publishes a report, for the team or for everybody.',
    capability: publish,
    needsApproval: ({ audience }) => audience === 'public',
  }),
];

/** Searches, reads two sources concurrently, publishes, and reports the result. */
export const pretendedModel = scriptedModel([
  { text: 'I look for sources.', calls: [{ name: 'search', input: { word: 'tides' } }] },
  {
    calls: [
      { name: 'read', input: { id: 'tides-1' } },
      { name: 'read', input: { id: 'tides-2' } },
    ],
  },
  (messages) => {
    const read = messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
    const text = read.flatMap((result) =>
      result.name === 'read' && 'output' in result ? [result.output] : [],
    );
    const report = { title: 'Tides', text: text.join(' '), audience: 'public' };
    return { calls: [{ name: 'publish', input: report }] };
  },
  (messages) => {
    const [result] = messages
      .flatMap((message) => (message.role === 'tool' ? message.results.slice(-1) : []))
      .slice(-1);
    return {
      text: result && 'output' in result ? 'The report is published.' : 'The report is not published.',
    };
  },
]);

export const researchWith = (model: AgentModel) =>
  defineWorkflow({
    type: 'research',
    planVersion: 1,
    input: z.object({ topic: z.string().default('tides') }),
    uses: capabilitiesOf(tools),
    run: async (flow, { topic }) => {
      const { text, turns, usage } = await runAgent(flow, {
        model,
        tools,
        system: 'You write short reports from sources that you have read.',
        prompt: `Write a report on ${topic} and publish it.`,
        maxTurns: 10,
        approvalTimeout: '3d',
        stream: true,
        messages: { key: flow.runId },
      });
      return { text, turns, usage };
    },
  });

export const research = researchWith(pretendedModel);
