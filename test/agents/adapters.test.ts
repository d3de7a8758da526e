import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { describe, expect, test } from '@jest/globals';
import { aiSdkModel } from '../../packages/agents/src/ai-sdk.ts';
import { genkitModel } from '../../packages/agents/src/genkit.ts';
import type { AgentMessage } from '../../packages/agents/src/index.ts';

const schema = { type: 'object', properties: { word: { type: 'string' } } };
const tools = [{ name: 'search', description: 'Searches.', input: schema }];
const { signal } = new AbortController();
const request = { system: 'Be brief.', tools, signal };
const first: AgentMessage[] = [{ role: 'user', text: 'Find tides.' }];

/** The conversation after an answer and the result of its call. */
function followedBy(answer: Omit<Extract<AgentMessage, { role: 'assistant' }>, 'role'>): AgentMessage[] {
  const { text, calls, raw } = answer;
  return [
    ...first,
    { role: 'assistant', text, calls, ...(raw === undefined ? {} : { raw }) },
    {
      role: 'tool',
      results: [
        { id: 'c1', name: 'search', output: ['tides-1'] },
        { id: 'c2', name: 'search', error: 'no such word' },
      ],
    },
  ];
}

/** An answer without parts of a provider. */
const foreign = { text: '', calls: [{ id: 'c1', name: 'search', input: { word: 'tides' } }] };

/** The answer of `doGenerate` of the model below, as a stream. */
const STREAM: LanguageModelV4StreamPart[] = [
  { type: 'stream-start', warnings: [] },
  { type: 'reasoning-start', id: '0' },
  { type: 'reasoning-delta', id: '0', delta: 'hm' },
  { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: { scripted: { signature: 's' } } },
  { type: 'reasoning-end', id: '0' },
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'I ' },
  { type: 'tool-input-start', id: 'c1', toolName: 'search' },
  { type: 'text-delta', id: '1', delta: 'search.' },
  { type: 'text-end', id: '1' },
  { type: 'text-start', id: '2' },
  { type: 'text-end', id: '2' },
  { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: '{"word":"tides"}' },
  { type: 'tool-call', toolCallId: 'c2', toolName: 'search', input: '{"word":' },
  { type: 'tool-call', toolCallId: 'c3', toolName: 'web', input: '{}', providerExecuted: true },
];
const FINISH: LanguageModelV4StreamPart = {
  type: 'finish',
  finishReason: { unified: 'tool-calls', raw: 'tool_use' },
  usage: {
    inputTokens: { total: 12, noCache: 12, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 3, text: 3, reasoning: undefined },
  },
};

describe('a model of the AI SDK', () => {
  let parts: LanguageModelV4StreamPart[] = [];
  const seen: Parameters<LanguageModelV4['doGenerate']>[0][] = [];
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'm-1',
    supportedUrls: {},
    doGenerate: async (options) => {
      seen.push(options);
      return {
        content: [
          { type: 'reasoning', text: 'hm', providerMetadata: { scripted: { signature: 's' } } },
          { type: 'text', text: 'I search.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: '{"word":"tides"}' },
          { type: 'tool-call', toolCallId: 'c2', toolName: 'search', input: '{"word":' },
          { type: 'tool-call', toolCallId: 'c3', toolName: 'web', input: '{}', providerExecuted: true },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool_use' },
        usage: {
          inputTokens: { total: 12, noCache: 12, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 3, text: 3, reasoning: undefined },
        },
        warnings: [],
      };
    },
    doStream: async (options) => {
      seen.push(options);
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };

  test('answers with text, calls of the tools and its usage', async () => {
    const answer = await aiSdkModel(model, { settings: { temperature: 0 } }).generate({
      ...request,
      messages: first,
    });
    expect(answer).toMatchObject({
      text: 'I search.',
      finish: 'tool-calls',
      usage: { input: 12, output: 3 },
      calls: [
        { id: 'c1', name: 'search', input: { word: 'tides' } },
        { id: 'c2', name: 'search', input: '{"word":' },
      ],
    });
    expect(seen.at(-1)).toMatchObject({
      temperature: 0,
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Find tides.' }] },
      ],
      tools: [{ type: 'function', name: 'search', description: 'Searches.', inputSchema: schema }],
      abortSignal: signal,
    });
  });

  test('receives its own answer unchanged, and the results', async () => {
    const agent = aiSdkModel(model);
    const answer = await agent.generate({ ...request, messages: first });
    const kept = JSON.parse(JSON.stringify(answer));
    await agent.generate({ ...request, messages: followedBy(kept) });
    expect(seen.at(-1)?.prompt.slice(2)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', providerOptions: { scripted: { signature: 's' } } },
          { type: 'text', text: 'I search.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: { word: 'tides' } },
          // A provider refuses what is no object; the result says what was wrong.
          { type: 'tool-call', toolCallId: 'c2', toolName: 'search', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'search',
            output: { type: 'json', value: ['tides-1'] },
          },
          {
            type: 'tool-result',
            toolCallId: 'c2',
            toolName: 'search',
            output: { type: 'error-text', value: 'no such word' },
          },
        ],
      },
    ]);
  });

  test('receives an answer of another model as parts', async () => {
    await aiSdkModel(model).generate({ ...request, messages: followedBy(foreign) });
    expect(seen.at(-1)?.prompt[2]).toEqual({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: { word: 'tides' } }],
    });
    await aiSdkModel(model).generate({ ...request, messages: followedBy({ ...foreign, text: 'Wait.' }) });
    expect(seen.at(-1)?.prompt[2]).toMatchObject({
      content: [{ type: 'text', text: 'Wait.' }, { type: 'tool-call' }],
    });
  });

  test('streams its text, and answers with the same as without a stream', async () => {
    parts = [...STREAM, FINISH];
    const pieces: string[] = [];
    const agent = aiSdkModel(model);
    const asked = { ...request, messages: first };
    const streamed = await agent.generate({ ...asked, onText: (piece) => pieces.push(piece) });
    const [call] = seen.slice(-1);
    expect(streamed).toEqual(await agent.generate(asked));
    expect(seen.at(-1)).toEqual(call);
    expect(pieces).toEqual(['I ', 'search.']);
  });

  test('fails if its stream reports an error, or ends before the answer does', async () => {
    const ask = () => aiSdkModel(model).generate({ ...request, messages: first, onText: () => {} });
    parts = [...STREAM, { type: 'error', error: new Error('overloaded') }, FINISH];
    await expect(ask()).rejects.toThrow('overloaded');
    parts = STREAM;
    await expect(ask()).rejects.toThrow('ended before its answer did');
  });

  test('may be of an earlier specification', async () => {
    const older = {
      specificationVersion: 'v2',
      provider: 'old',
      modelId: 'm',
      doGenerate: async () => ({
        content: [{ type: 'text', text: 'Hi.' }],
        finishReason: 'stop',
        usage: { inputTokens: 1, outputTokens: undefined, totalTokens: 1 },
      }),
    };
    const answer = await aiSdkModel(older).generate({
      ...request,
      tools: [],
      messages: first,
      onText: () => {},
    });
    expect(answer).toMatchObject({ text: 'Hi.', finish: 'stop', usage: { input: 1, output: 0 } });
    // Compiled only: models of the SDK's own types are taken as they are.
    const taken = (own: LanguageModelV2 | LanguageModelV3) => aiSdkModel(own).id;
    expect(typeof taken).toBe('function');
  });
});

describe('a model of Genkit', () => {
  const seen: Record<string, unknown>[] = [];
  const ai = {
    dynamicTool: (config: object) => ({ dynamic: config }),
    generate: async (options: Record<string, unknown>) => {
      seen.push(options);
      return {
        message: {
          content: [
            { text: 'I search.', metadata: { thoughtSignature: 's' } },
            { toolRequest: { name: 'search', ref: 'c1', input: { word: 'tides' } } },
            { toolRequest: { name: 'search', input: undefined } },
          ],
        },
        finishReason: 'stop',
        usage: { inputTokens: 12, outputTokens: 3 },
      };
    },
  };

  test('answers one turn, and leaves the calls to the flow', async () => {
    const answer = await genkitModel(ai, { model: 'googleai/m', config: { temperature: 0 } }).generate({
      ...request,
      messages: first,
    });
    expect(answer).toMatchObject({
      text: 'I search.',
      finish: 'stop',
      usage: { input: 12, output: 3 },
      calls: [
        { id: 'c1', name: 'search', input: { word: 'tides' } },
        { id: 'call-1-2', name: 'search', input: {} },
      ],
    });
    expect(seen.at(-1)).toEqual({
      model: 'googleai/m',
      config: { temperature: 0 },
      system: 'Be brief.',
      messages: [{ role: 'user', content: [{ text: 'Find tides.' }] }],
      tools: [{ dynamic: { name: 'search', description: 'Searches.', inputJsonSchema: schema } }],
      returnToolRequests: true,
      abortSignal: signal,
    });
  });

  test('streams its text', async () => {
    const pieces: string[] = [];
    const streaming = {
      ...ai,
      generate: async (options: { onChunk?: (chunk: { text?: string }) => void }) => {
        for (const text of ['I ', '', 'search.']) options.onChunk?.({ text });
        return ai.generate(options as never);
      },
    };
    const agent = genkitModel(streaming, { model: 'googleai/m' });
    const { text } = await agent.generate({
      ...request,
      messages: first,
      onText: (piece) => pieces.push(piece),
    });
    expect(pieces).toEqual(['I ', 'search.']);
    expect(pieces.join('')).toBe(text);
  });

  test('receives its own answer unchanged, and the results', async () => {
    const agent = genkitModel(ai, { model: 'googleai/m' });
    await agent.generate({
      ...request,
      messages: followedBy(await agent.generate({ ...request, messages: first })),
    });
    const { messages } = seen.at(-1) as { messages: unknown[] };
    expect(messages.slice(1)).toEqual([
      {
        role: 'model',
        content: [
          { text: 'I search.', metadata: { thoughtSignature: 's' } },
          { toolRequest: { name: 'search', ref: 'c1', input: { word: 'tides' } } },
          { toolRequest: { name: 'search' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { toolResponse: { name: 'search', ref: 'c1', output: ['tides-1'] } },
          { toolResponse: { name: 'search', ref: 'c2', output: { error: 'no such word' } } },
        ],
      },
    ]);
  });

  test('receives an answer of another model as parts', async () => {
    const agent = genkitModel(ai, { model: 'googleai/m' });
    await agent.generate({ ...request, messages: followedBy({ ...foreign, text: 'Wait.' }) });
    expect((seen.at(-1) as { messages: unknown[] }).messages[1]).toEqual({
      role: 'model',
      content: [{ text: 'Wait.' }, { toolRequest: { name: 'search', ref: 'c1', input: { word: 'tides' } } }],
    });
  });
});
