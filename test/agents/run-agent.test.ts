import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import {
  type AgentMessage,
  type AgentOptions,
  type AgentTool,
  capabilitiesOf,
  defineTool,
  runAgent,
  type ScriptedTurn,
  scriptedModel,
} from '../../packages/agents/src/index.ts';
import { Fatal } from '../../packages/cairn/src/core/errors.ts';
import { defineBinding, defineCapability } from '../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { createTestRuntime } from '../../packages/cairn/src/testing/index.ts';

const pay = defineCapability({
  id: 'shop.pay',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ cents: z.number().int() }),
  response: z.object({ id: z.number() }),
});

const post = defineCapability({
  id: 'shop.post',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ text: z.string() }),
  response: z.object({}),
});

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
const payTool = defineTool({
  name: 'pay',
  description: 'Pays.',
  capability: pay,
  needsApproval: ({ cents }) => cents > 100,
});

const call = (name: string, input: unknown) => ({ name, input: input as never });
/** Answers with the last results that the model received. */
const telling: ScriptedTurn = (messages) => {
  const last = messages.at(-1);
  return { text: last?.role === 'tool' ? JSON.stringify(last.results) : 'none' };
};

async function started(
  turns: readonly ScriptedTurn[],
  tools: readonly AgentTool[] = [add, payTool],
  more: Partial<AgentOptions> = {},
) {
  const keys = new Set<string>();
  const workflow = defineWorkflow({
    type: 'agent',
    planVersion: 1,
    input: z.object({}),
    uses: capabilitiesOf(tools),
    run: async (flow) => {
      const { text } = await runAgent(flow, { model: scriptedModel(turns), tools, prompt: 'Go.', ...more });
      return text;
    },
  });
  const binding = defineBinding(pay, {
    id: 'shop-stand-in',
    call: async (_, { idempotencyKey }) => {
      keys.add(idempotencyKey);
      return { id: keys.size };
    },
  });
  const posting = defineBinding(post, { id: 'post-stand-in', call: async () => ({}) });
  const runtime = createTestRuntime({ workflows: [workflow], bindings: [binding, posting] });
  const run = await runtime.start('agent');
  return { runtime, run, keys };
}

async function told(...args: Parameters<typeof started>): Promise<string> {
  const { runtime, run } = await started(...args);
  await runtime.runToEnd(run);
  if (run.status() !== 'completed') throw new Error(`it ended as ${run.status()}: ${run.error()?.message}`);
  return ((await run.result()) as { output: string }).output;
}

describe('what a model writes', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const odd = fc.constantFrom(
    '"\\ud83d"',
    '1e400',
    '-1e400',
    '{"\\udc00":1}',
    nested(99),
    nested(5_000),
    '"📦"',
    '-0',
  );
  const written = fc.record({
    text: fc.string({ unit: 'binary', maxLength: 5 }),
    name: fc.constantFrom('add', 'pay', '\ud800', 'nothing'),
    input: fc.oneof(
      odd,
      odd.map((text) => `{"a":1,"b":${text}}`),
      odd.map((text) => `{"cents":${text}}`),
      fc.json(),
    ),
    count: fc.constantFrom(1, 2.5, -3, 2 ** 60, '7', null, Number.NaN, Number.POSITIVE_INFINITY),
  });

  test('is recorded as JSON, and the schemas of the tools decide about it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(written, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (turns, stream) => {
          const script = turns.map(({ text, name, input, count }) => {
            const parsed = JSON.parse(input) as never;
            return {
              text,
              calls: [{ name, input: parsed }],
              usage: { input: count as number, output: 1 },
              raw: [{ text, input: parsed }] as never,
            };
          });
          const end = { text: 'done' };
          expect(
            await told([...script, end], [add, { ...payTool, needsApproval: () => false }], { stream }),
          ).toBe('done');
        },
      ),
      { numRuns: 30 },
    );
  });
});

test.each([
  [undefined, "'text', 'finish', 'calls'"],
  [{ text: 'Hi.', finish: 'stop' }, "'calls'"],
  [{ text: null, finish: 'stop', calls: [] }, "'text'"],
  [{ text: '', finish: 'stop', calls: [{ id: 'c1' }] }, "'calls[0].name'"],
  [{ text: '', finish: 'stop', calls: [{ id: 'c1', name: 'add' }, { name: 'add' }] }, "'calls[1].id'"],
])(
  'an invalid answer (%j) fails the agent without a retry, and names the missing members',
  async (answer, lacks) => {
    let calls = 0;
    const model = {
      id: 'own',
      generate: async () => {
        calls += 1;
        return answer as never;
      },
    };
    const { runtime, run } = await started([], [], { model });
    await runtime.runToEnd(run);
    expect([calls, run.error()?.message]).toEqual([1, expect.stringContaining(`lacks ${lacks}:`)]);
  },
);

test('the model receives the first problems of an input, and their number', async () => {
  const list = defineTool({
    name: 'list',
    description: 'Takes numbers.',
    input: z.object({ all: z.array(z.number()) }),
    run: () => 0,
  });
  const calls = [call('list', { all: Array.from({ length: 5_000 }, () => 'x') })];
  const [heard] = JSON.parse(await told([{ calls }, telling], [list])) as { error: string }[];
  expect(heard?.error).toMatch(/^The input is not valid\. all\.0: .*; and 4980 more$/);
  expect(heard?.error.length).toBeLessThan(2_000);
});

test('a model hears what the schema of a tool throws for an input', async () => {
  const visit = defineTool({
    name: 'visit',
    description: 'Opens a page.',
    input: z.object({
      url: z.string().transform((text) => {
        if (!URL.canParse(text)) throw new Error(`no URL: ${text.slice(0, 4)}`);
        return new URL(text).href;
      }),
    }),
    run: ({ url }) => url,
  });
  const urls = ['at 🏔', 'https://a.example'];
  const calls = urls.map((url) => call('visit', { url }));
  expect(JSON.parse(await told([{ calls }, telling], [visit]))).toEqual([
    { id: 'call-0-0', name: 'visit', error: 'The input is not valid. no URL: at \ufffd' },
    { id: 'call-0-1', name: 'visit', output: 'https://a.example/' },
  ]);
});

describe('an agent', () => {
  test('without calls answers at once', async () => {
    expect(await told([{ text: 'Hello.' }])).toBe('Hello.');
  });

  test('receives the results of its calls, in their order', async () => {
    const calls = [call('add', { a: 1, b: 2 }), call('pay', { cents: 5 }), call('add', { a: 3, b: 4 })];
    expect(JSON.parse(await told([{ calls }, telling]))).toEqual([
      { id: 'call-0-0', name: 'add', output: 3 },
      { id: 'call-0-1', name: 'pay', output: { id: 1 } },
      { id: 'call-0-2', name: 'add', output: 7 },
    ]);
  });

  const broken = defineTool({
    name: 'broken',
    description: 'Fails.',
    input: z.object({}),
    run: () => {
      throw new Fatal('the disk is full');
    },
  });
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds.',
    capability: pay,
    input: z.object({ cents: z.number() }),
  });
  const write = defineTool({
    name: 'write',
    description: 'Writes.',
    capability: post,
    needsApproval: ({ text }) => text.startsWith('ask'),
  });
  test.each([
    [
      'an unknown tool',
      call('divide', {}),
      "There is no tool 'divide'. Tools: add, pay, broken, refund, write.",
    ],
    ['an input of the wrong type', call('add', { a: '1', b: 2 }), 'The input is not valid. a: '],
    ['an input that is no object', call('add', 'not json'), 'The input is not valid. input: '],
    ['a tool that fails', call('broken', {}), 'The call failed (STEP_FAILED): the disk is full'],
    ['an input that the capability does not take', call('refund', { cents: 1.5 }), 'The call is not valid: '],
    ['a request that is too large', call('write', { text: 'x'.repeat(300_000) }), 'The call is not valid: '],
  ])('receives %s, and continues', async (_, wrong, error) => {
    const [result] = JSON.parse(
      await told([{ calls: [wrong] }, telling], [add, payTool, broken, refund, write]),
    );
    expect(result.error).toContain(error);
  });

  test('receives a refusal where a person cannot be asked about a call with a large input', async () => {
    const calls = [call('write', { text: `ask${'x'.repeat(20_000)}` })];
    const [{ error }] = JSON.parse(await told([{ calls }, telling], [write]));
    expect(error).toContain('Nobody could be asked to allow this call');
  });

  test('calls a tool whose schema transforms the input into a value that is not JSON', async () => {
    const year = defineTool({
      name: 'year',
      description: 'Tells the year.',
      input: z.object({ day: z.iso.date().transform((day) => new Date(day)) }),
      run: ({ day }) => day.getUTCFullYear(),
    });
    const [result] = JSON.parse(
      await told([{ calls: [call('year', { day: '2026-11-23' })] }, telling], [year]),
    );
    expect(result.output).toBe(2026);
  });

  test('asks a person where the tool requires it for the input, and makes no refused call', async () => {
    const { runtime, run, keys } = await started([{ calls: [call('pay', { cents: 500 })] }, telling]);
    await runtime.runUntilBlocked(run);
    expect(run.waits()).toMatchObject([{ kind: 'approval' }]);
    await runtime.decide(run, 'reject', { step: 'flow[approve-pay]', note: 'too much' });
    await runtime.runToEnd(run);
    const { output } = (await run.result()) as { output: string };
    expect(JSON.parse(output)[0].error).toContain('A person did not allow this call');
    expect(keys.size).toBe(0);
  });

  test('receives an error if nobody decided in time', async () => {
    const turns = [{ calls: [call('pay', { cents: 500 })] }, telling];
    const { runtime, run } = await started(turns, [payTool], { approvalTimeout: '1h' });
    await runtime.runUntilBlocked(run);
    await runtime.advance('2h');
    const { output } = (await run.result()) as { output: string };
    expect(JSON.parse(output)[0].error).toContain('Nobody allowed this call in time');
  });

  test('receives messages while it works, before its next turn', async () => {
    const userTexts = (messages: readonly AgentMessage[]) =>
      messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).join('|');
    const { runtime, run } = await started(
      [{ calls: [call('pay', { cents: 500 })] }, (messages) => ({ text: userTexts(messages) })],
      [payTool],
      { messages: { key: 'k' } },
    );
    await runtime.runUntilBlocked(run);
    await runtime.deliver({ event: 'agent-message', key: 'k', data: 'Hurry.' });
    await runtime.deliver({ event: 'agent-message', key: 'k', data: { text: 'Please.' } });
    await runtime.runUntilBlocked(run);
    runtime.crashAfter('flow[model.2]');
    await runtime.decide(run, 'approve', { step: 'flow[approve-pay]' });
    await runtime.runToEnd(run);
    expect(await run.result()).toEqual({ output: 'Go.|Hurry.|Please.' });
  });

  test('that cannot wait for messages fails its flow', async () => {
    const { runtime, run } = await started([{ text: 'Hello.' }], [], { messages: { key: '' } });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.error()?.message).toContain('must be a string of 1 to');
  });

  test.each([
    [
      'uses all of its turns',
      [1, 2].map(() => ({ calls: [call('add', { a: 1, b: 2 })] })),
      'AGENT_TURNS_USED',
    ],
    ['is cut off', [{ text: 'Once upon', finish: 'length' }], 'AGENT_CUT_OFF'],
    ['calls a model that fails', [], 'STEP_FAILED'],
  ])('that %s fails its flow', async (_, turns, code) => {
    const { runtime, run } = await started(turns, undefined, { maxTurns: 2, retry: { maxAttempts: 1 } });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.error()?.code).toBe(code);
  });
});

describe('a tool is refused at definition for', () => {
  const fine = { name: 'x', description: 'Does x.', input: z.object({}), run: () => 1 };
  test.each<[string, object, string, string]>([
    ['a name that no model could use', { name: 'a b' }, 'name', 'not "a b"'],
    ['the name of the calls of the model', { name: 'model' }, 'name', "neither 'model' nor 'message'"],
    ['the name of a question', { name: 'approve-x' }, 'name', "without 'approve-' before it"],
    ['no description', { description: '' }, 'description', 'a description of 1 to'],
    ['no action', { run: undefined }, 'run', "either 'run' or 'capability'"],
    ['two actions', { capability: pay }, 'run', "either 'run' or 'capability'"],
    ['no schema', { input: undefined }, 'input', 'needs a Zod schema'],
    ['an input that is no object', { input: z.string() }, 'input', 'must be an object'],
    ['an approval in words', { needsApproval: 'yes' }, 'needsApproval', 'true, false or a function'],
  ])('%s', (_, wrong, field, message) => {
    let error: unknown;
    try {
      defineTool({ ...fine, ...wrong } as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field, message: expect.stringContaining(message) });
  });
});
