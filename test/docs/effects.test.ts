import { afterAll, describe, expect, test } from '@jest/globals';
import type { Binding } from '../../packages/cairn/src/engine/define/capability.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { createTestRuntime } from '../../packages/cairn/src/testing/index.ts';
import { writeSnippets } from './snippets.ts';

const snippets = writeSnippets('docs/effects.md');
afterAll(() => snippets.remove());

interface Shown {
  readonly sendInvoice: Workflow;
  readonly mailBy: (server: { send: (to: string) => Promise<{ status: number; id: string }> }) => Binding;
  readonly greetAll: Workflow;
}

function shown(name: string): Promise<Shown> {
  return import(snippets.at(`functions/src/workflows/${name}.ts`)) as Promise<Shown>;
}

describe('the invoice', () => {
  async function runtimeWith(send: (to: string) => Promise<{ status: number; id: string }>) {
    const { sendInvoice, mailBy } = await shown('send-invoice');
    return createTestRuntime({ workflows: [sendInvoice], bindings: [mailBy({ send })] });
  }

  test('is sent once, and its secret is not stored', async () => {
    const sent: string[] = [];
    const runtime = await runtimeWith(async (to) => ({ status: 200, id: `m-${sent.push(to)}` }));
    runtime.crashAfter('send');
    const run = await runtime.start('send-invoice', { to: 'ann' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(sent).toEqual(['ann']);
    expect(await run.result()).toEqual({ sent: 'm-1' });
    const [origin, reused] = run.effects();
    expect(origin).toMatchObject({ status: 'recorded' });
    expect(origin?.requestText).toContain('"token":"[redacted]"');
    expect(reused).toMatchObject({ status: 'reused', originEffectId: origin?.effectId });
  });

  test('waits for a person when the acknowledgement was lost', async () => {
    const runtime = await runtimeWith(() => Promise.reject(new Error('connection reset')));
    const run = await runtime.start('send-invoice', { to: 'ann' });
    await runtime.settle();
    expect(run.waits()).toMatchObject([{ kind: 'approval', effect: run.effects()[0]?.effectId }]);
    await runtime.resolve(run, 'recorded', { result: { messageId: 'm-7' }, note: 'it is in the outbox' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ sent: 'm-7' });
  });

  test('that the server refuses fails the step', async () => {
    const runtime = await runtimeWith(async () => ({ status: 550, id: '' }));
    const run = await runtime.start('send-invoice', { to: 'nobody' });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.effects()).toMatchObject([{ status: 'failed' }]);
  });
});

test('greetings are sent to everybody, each under its own key', async () => {
  const { mailBy } = await shown('send-invoice');
  const { greetAll } = await shown('greet-all');
  const sent: string[] = [];
  const send = async (to: string) => ({ status: 200, id: `m-${sent.push(to)}` });
  const runtime = createTestRuntime({ workflows: [greetAll], bindings: [mailBy({ send })] });
  const run = await runtime.start('greet-all', { names: ['ann', 'bob', 'cy'] });
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(sent.sort()).toEqual(['ann', 'bob', 'cy']);
  expect(new Set(run.effects().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
});
