import { describe, expect, test } from '@jest/globals';
import { AttemptCalls } from '../../../packages/cairn/src/engine/effects/attempt-calls.ts';

const of = (key: string | undefined, requestHash = 'h', capabilityId = 'mail') => ({
  capabilityId,
  key,
  requestHash,
  stepId: 's',
});

describe('the calls of an attempt', () => {
  test('without keys are numbered, for each capability', async () => {
    const calls = new AttemptCalls();
    const made: (string | number)[] = [];
    for (const capabilityId of ['mail', 'mail', 'sms', 'mail'])
      await calls.call(of(undefined, 'h', capabilityId), async (call) =>
        made.push(`${capabilityId}.${call}`),
      );
    expect(made).toEqual(['mail.1', 'mail.2', 'sms.1', 'mail.3']);
  });

  test('without keys are made one at a time, also after one that failed', async () => {
    const calls = new AttemptCalls();
    const { promise, reject } = Promise.withResolvers<void>();
    const first = calls.call(of(undefined), () => promise);
    expect(() => calls.call(of(undefined), async () => {})).toThrow('concurrent calls');
    await calls.call(of(undefined, 'h', 'sms'), async () => {});
    reject(new Error('down'));
    await expect(first).rejects.toThrow('down');
    expect(await calls.call(of(undefined), async (call) => call)).toBe(2);
  });

  test('with the same key are one, whose end both have', async () => {
    const calls = new AttemptCalls();
    const first = calls.call(of('k'), async () => 1);
    expect(await calls.call(of('k'), async () => 2)).toBe(1);
    expect(await first).toBe(1);
    expect(await calls.call(of('k', 'h', 'sms'), async () => 3)).toBe(3);
    // A key that looks like a number is a key.
    expect(await calls.call(of('1'), async () => 4)).toBe(4);
    expect(await calls.call(of(undefined), async () => 5)).toBe(5);
  });

  test('with the same key and another request are refused', async () => {
    const calls = new AttemptCalls();
    await calls.call(of('k'), async () => 1);
    expect(() => calls.call(of('k', 'other'), async () => 2)).toThrow('two different requests');
  });

  test.each(['', 'x'.repeat(201), '\ud800', 7 as never])('with a key %j are refused', (key) => {
    expect(() => new AttemptCalls().call(of(key), async () => {})).toThrow('1 to 200 characters');
  });
});
