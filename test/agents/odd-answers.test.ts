/** Odd answers of providers: members that they leave out, and parts that they refuse to receive back. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { aiSdkModel } from '../../packages/agents/src/ai-sdk.ts';
import { genkitModel } from '../../packages/agents/src/genkit.ts';
import type { AgentMessage } from '../../packages/agents/src/index.ts';

const { signal } = new AbortController();
const request = { system: 'Be brief.', tools: [], signal };
const first: AgentMessage[] = [{ role: 'user', text: 'Find tides.' }];

/** A language model of the SDK with this answer. */
const answering = (answer: object) =>
  aiSdkModel({
    specificationVersion: 'v3',
    provider: 'odd',
    modelId: 'm',
    doGenerate: async (options: { prompt?: unknown }) =>
      Object.assign(answer, { prompt: options.prompt }) as never,
  });

test.each([
  {},
  { finishReason: null, usage: null },
  { finishReason: {}, usage: {} },
  { finishReason: { unified: null }, usage: { inputTokens: null, outputTokens: { total: null } } },
])('an answer of the AI SDK without a finish reason or usage (%j) is accepted', async (more) => {
  const agent = answering({ content: [{ type: 'text', text: 'Hi.' }], ...more });
  expect(await agent.generate({ ...request, messages: first })).toMatchObject({
    text: 'Hi.',
    finish: 'unknown',
    usage: { input: 0, output: 0 },
  });
});

test('the provider receives an object as input of a call, whatever the model wrote', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (input) => {
      const answer = { content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'search', input }] };
      const agent = answering(answer);
      const { text, calls, raw } = await agent.generate({ ...request, messages: first });
      const seen = answer as { prompt?: { content: { input: unknown }[] }[] };
      for (const kept of [
        { text, calls, ...(raw !== undefined && { raw }) },
        { text, calls },
      ]) {
        await agent.generate({ ...request, messages: [...first, { role: 'assistant', ...kept }] });
        expect(seen.prompt?.[2]?.content[0]?.input).toEqual(objectOf(input));
      }
    }),
  );
});

test('an empty answer, and an empty text beside calls, are not sent back', async () => {
  const empty = { type: 'text', text: '' };
  const signed = { ...empty, providerMetadata: { odd: { signature: 's' } } };
  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: '{}' };
  const cases: [object[], string[] | undefined][] = [
    [[], undefined],
    [[empty], undefined],
    [[empty, call], ['tool-call']],
    [[signed], ['text']],
  ];
  for (const [content, expected] of cases) {
    const answer = { content };
    const { text, calls, raw } = await answering(answer).generate({ ...request, messages: first });
    const conversation: AgentMessage[] = [...first, { role: 'assistant', text, calls, raw }, ...first];
    const seen: { role: string; content: { type: string }[] }[] = [];
    const ai = answering({
      content: [],
      set prompt(prompt: typeof seen) {
        seen.push(...prompt);
      },
    });
    await ai.generate({ ...request, messages: conversation });
    const sent = seen.find(({ role }) => role === 'assistant')?.content.map(({ type }) => type);
    expect([content, sent]).toEqual([content, expected]);
  }
});

test('an empty text is not sent back to Genkit, unless it has other members', async () => {
  let content: unknown[] = [{ text: '' }, { text: '', metadata: { thoughtSignature: 's' } }];
  const seen: { messages: { role: string; content: unknown[] }[] }[] = [];
  const agent = genkitModel(
    {
      dynamicTool: (config: object) => config,
      generate: async (options: never) => {
        seen.push(options);
        return { message: { content } };
      },
    },
    { model: 'odd' },
  );
  const sentBack = async () => {
    const { text, calls, raw } = await agent.generate({ ...request, messages: first });
    await agent.generate({ ...request, messages: [...first, { role: 'assistant', text, calls, raw }] });
    return seen.at(-1)?.messages.find(({ role }) => role === 'model')?.content;
  };
  expect(await sentBack()).toEqual([{ text: '', metadata: { thoughtSignature: 's' } }]);
  content = [{ text: '' }];
  expect(await sentBack()).toBeUndefined();
});

/** Parses the text if it is a JSON object; otherwise returns an empty object. */
function objectOf(text: string): object {
  try {
    const value = JSON.parse(text === '' ? '{}' : text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}
