import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal, NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { responseOf } from '../../../packages/cairn/src/engine/effects/rows.ts';
import { Outside } from '../../support/outside.ts';
import { World } from '../../support/world.ts';
import { hello, installation, rowsOf } from './stage.ts';

describe('a body', () => {
  test('may call only the capabilities of its step', async () => {
    const other = new Outside({ id: 'other.thing' });
    const { outside, world } = installation((perform) => perform(other.capability, { text: 'x' }));
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).error).toMatchObject({ code: 'INVALID_INPUT', stepId: 'send' });
    expect(outside.calls + other.calls).toBe(0);
  });

  test('needs keys for concurrent calls', async () => {
    const { outside, world } = installation((perform, capability) =>
      Promise.all([perform(capability, { text: 'a' }), perform(capability, { text: 'b' })]),
    );
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).error).toMatchObject({ code: 'INVALID_INPUT' });
    expect(outside.applied.length).toBeLessThanOrEqual(1);
  });

  test('is refused an invalid request of its capability before anything is written', async () => {
    const { world } = installation((perform, capability) => perform(capability, { text: 7 } as never));
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('failed');
    expect(rowsOf(world)).toEqual([]);
  });

  test('is retried at the time that the receiver sets, not earlier', async () => {
    const { outside, world } = installation(hello);
    const at = world.clock.now() + 90_000;
    outside.onCall = () => {
      if (outside.calls === 1) throw new NotApplied('too many', { retryAt: at });
    };
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(rowsOf(world)[1]?.createdAt).toBeGreaterThanOrEqual(at);
  });

  test('fails its step where the receiver refuses permanently', async () => {
    const { outside, world } = installation(hello);
    outside.faults.push('refuse_for_good');
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('failed');
    expect(outside.calls).toBe(1);
  });

  test('receives a large answer again after a crash, from its payload', async () => {
    const capability = defineCapability({
      id: 'report.make',
      sideEffects: 'write',
      idempotency: 'not_supported',
      request: z.object({}),
      response: z.object({ text: z.string() }),
    });
    const text = 'x'.repeat(300 * 1024);
    let calls = 0;
    const binding = defineBinding(capability, {
      id: 'report.make.here',
      call: async () => {
        calls += 1;
        return { text };
      },
    });
    const workflow = defineWorkflow({
      type: 'post',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        size: step('make', { uses: [capability], retry: { initialMs: 1 } }, async ({ perform, attempt }) => {
          const report = await perform(capability, {});
          if (attempt === 1) throw new Error('after the act');
          return report.text.length;
        }),
      }),
    });
    const world = new World({ workflows: [workflow], bindings: [binding] });
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).result).toEqual({ text: `{"size":${text.length}}` });
    expect(calls).toBe(1);
    const [row] = rowsOf(world);
    expect(row).toMatchObject({
      status: 'recorded',
      recordedResultRef: { runId: id, bytes: text.length + 11 },
    });
    expect(row).not.toHaveProperty('resultText');
  });

  test.each(['none', 'read'] as const)('leaves no rows for the side effect %s', async (sideEffects) => {
    const { outside, world } = installation(hello, { sideEffects });
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(outside.calls).toBe(1);
    expect(rowsOf(world)).toEqual([]);
  });

  test('never sees a secret of an answer, the first time or a repetition', async () => {
    const capability = defineCapability({
      id: 'key.make',
      sideEffects: 'write',
      idempotency: 'not_supported',
      request: z.object({ deep: z.array(z.object({ pin: z.string() })) }),
      response: z.object({ id: z.string(), token: z.string() }),
      secrets: { request: ['deep.*.pin'], response: ['token'] },
    });
    const seen: unknown[] = [];
    const binding = defineBinding(capability, {
      id: 'key.make.here',
      call: async ({ deep }) => ({ id: deep[0]?.pin ?? '', token: 'top secret' }),
    });
    const workflow = defineWorkflow({
      type: 'post',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        made: step('make', { uses: [capability], retry: { initialMs: 1 } }, async ({ perform, attempt }) => {
          seen.push(await perform(capability, { deep: [{ pin: '1234' }] }));
          if (attempt === 1) throw new Error('after the act');
        }),
      }),
    });
    const world = new World({ workflows: [workflow], bindings: [binding] });
    await world.start('post');
    await world.run();
    expect(seen).toEqual([
      { id: '1234', token: '[redacted]' },
      { id: '1234', token: '[redacted]' },
    ]);
    expect(JSON.stringify([...world.db.effects.values()])).not.toMatch(/top secret|"pin":"1234"/);
  });
});

const address = defineCapability({
  id: 'page.find',
  sideEffects: 'write',
  idempotency: 'not_supported',
  request: z.object({}),
  response: z.object({
    url: z.string().transform((text) => {
      if (!URL.canParse(text)) throw new TypeError('not an address');
      return text;
    }),
  }),
});

test.each([
  ['{"url":1}', " at 'url': Invalid input: expected string, received number"],
  ['null', ': Invalid input: expected object, received null'],
  ['{"url":"?"}', ': not an address'],
])('the response %s is refused by name, and what the schema throws is a refusal', (text, why) => {
  const refused = () => responseOf(address, text);
  expect(refused).toThrow(Fatal);
  expect(refused).toThrow(`'page.find' took effect, but its response does not match its schema${why}`);
});
