import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { createTestRuntime } from '../../packages/cairn/src/testing/index.ts';
import { nap, reader, shaky, stuck } from './fixtures.ts';

const DAY = 86_400_000;

describe('a run under test', () => {
  test('is pending until it is driven, and then has the result of its workflow', async () => {
    const runtime = createTestRuntime({ workflows: [shaky] });
    const run = await runtime.start('shaky');
    expect(run.status()).toBe('pending');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(run.status()).toBe('completed');
    expect(await run.result()).toEqual({ last: 3 });
    expect(await run.output('middle')).toBe(2);
    expect(run.steps().map(({ id, status }) => `${id} ${status}`)).toEqual([
      'first succeeded',
      'middle succeeded',
      'last succeeded',
    ]);
    expect(run.error()).toBeUndefined();
    expect(run.waits()).toEqual([]);
    expect(runtime.runs().map(({ id }) => id)).toEqual([run.id]);
  });

  test('is the same run for the same key, and refused for another input', async () => {
    const runtime = createTestRuntime({ workflows: [shaky] });
    const first = await runtime.start('shaky', { failures: 1 }, { key: 'k' });
    const again = await runtime.start('shaky', { failures: 1 }, { key: 'k' });
    expect(again.id).toBe(first.id);
    await expect(runtime.start('shaky', { failures: 2 }, { key: 'k' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect((await runtime.start('shaky')).id).not.toBe(first.id);
  });

  test.each([
    [
      'of a type that nobody gave',
      () => createTestRuntime({ workflows: [nap] }).start('shaky'),
      /workflows: nap/,
    ],
    [
      'with an input that the workflow refuses',
      () => createTestRuntime({ workflows: [shaky] }).start('shaky', { failures: 'many' }),
      /failures/,
    ],
  ])('%s is refused', async (_name, start, message) => {
    await expect(start()).rejects.toThrow(message);
  });

  test('that fails has a reason, and no result', async () => {
    const runtime = createTestRuntime({ workflows: [shaky] });
    const run = await runtime.start('shaky', { failures: 3 });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.error()).toMatchObject({ code: 'STEP_FAILED', stepId: 'middle', message: 'attempt 3 failed' });
    expect(run.calls('middle')).toBe(3);
    await expect(run.result()).rejects.toThrow(
      /has no result; its status is failed[\s\S]*step_failed +middle/,
    );
    expect(() => run.step('last')).toThrow(/has not started; started steps: first, middle/);
  });

  test('that is cancelled ends, and a completed one cannot be', async () => {
    const runtime = createTestRuntime({ workflows: [nap, shaky] });
    const run = await runtime.start('nap');
    await runtime.settle();
    expect(await runtime.cancel(run, { reason: 'enough' })).toMatchObject({
      status: 'cancelled',
      reason: 'enough',
    });
    expect(run.status()).toBe('cancelled');
    const done = await runtime.start('shaky');
    await runtime.runToEnd(done);
    await expect(runtime.cancel(done)).rejects.toMatchObject({ code: 'RUN_TERMINAL_STATE' });
  });

  test('has the log lines of its bodies', async () => {
    const runtime = createTestRuntime({ workflows: [shaky] });
    const run = await runtime.start('shaky');
    await runtime.runToEnd(run);
    const line = runtime.logs().find(({ fields }) => fields.message === 'it worked');
    expect(line?.fields).toMatchObject({ runId: run.id, stepId: 'middle', attempt: 1 });
  });
});

describe('simulated time', () => {
  test.each([
    ['the beginning of 2026', undefined, '2026-01-01T00:00:00.000Z'],
    ['a text', '2028-02-29T12:00:00Z', '2028-02-29T12:00:00.000Z'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a number', DAY, '1970-01-02T00:00:00.000Z'],
  ])('begins with %s', (_name, now, iso) => {
    const runtime = createTestRuntime({ workflows: [nap], ...(now === undefined ? {} : { now }) });
    expect(new Date(runtime.now()).toISOString()).toBe(iso);
  });

  test('that is invalid is refused', () => {
    expect(() => createTestRuntime({ workflows: [], now: 'soon' })).toThrow(/'soon'|is not a time: soon/);
  });

  test('advances when the test says so, and does what is due on the way', async () => {
    const runtime = createTestRuntime({ workflows: [nap] });
    const began = runtime.now();
    const run = await runtime.start('nap');
    await runtime.settle();
    expect(runtime.now()).toBe(began);
    expect(run.status()).toBe('waiting_external');
    expect(run.waits()).toEqual([{ step: 'pause', kind: 'timer', until: new Date(began + DAY) }]);
    await runtime.advance('23h');
    expect(run.status()).toBe('waiting_external');
    await runtime.advance('1h');
    expect(run.status()).toBe('completed');
    expect(runtime.now()).toBe(began + DAY);
    await runtime.advance(1_500);
    expect(runtime.now()).toBe(began + DAY + 1_500);
  });

  test('lets waits of a day, a month and a year pass at once', async () => {
    const runtime = createTestRuntime({ workflows: [nap] });
    for (const wait of ['24h', '30d', '365d']) {
      const run = await runtime.start('nap', { for: wait });
      expect(await runtime.runToEnd(run)).toBe('completed');
    }
  });

  test('ends many runs in the order in which they are due', async () => {
    const runtime = createTestRuntime({ workflows: [nap] });
    const waits = ['3h', '1h', '2h'];
    const runs = await Promise.all(waits.map((wait) => runtime.start('nap', { for: wait })));
    await runtime.advance('4h');
    const ended = runs.map((run, i) => ({ wait: waits[i], at: run.state().completedAt ?? 0 }));
    expect(ended.toSorted((a, b) => a.at - b.at).map(({ wait }) => wait)).toEqual(['1h', '2h', '3h']);
  });

  test('does not advance while a body takes real time', async () => {
    const runtime = createTestRuntime({ workflows: [reader], patienceMs: 60_000 });
    const run = await runtime.start('reader', { file: fileURLToPath(import.meta.url) });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(run.state().durationMs).toBe(0);
  });

  test('fails on a body that hangs', async () => {
    const runtime = createTestRuntime({ workflows: [stuck], patienceMs: 5 });
    const run = await runtime.start('stuck');
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.error()).toMatchObject({ code: 'STEP_TIMEOUT' });
    expect(run.calls('hang')).toBe(2);
    expect(run.state().durationMs).toBeGreaterThanOrEqual(120_000);
  });
});

describe('the same seed', () => {
  async function journalOf(seed: number): Promise<unknown> {
    const runtime = createTestRuntime({ workflows: [shaky, nap], seed });
    const run = await runtime.start('shaky', { failures: 2 });
    runtime.crashBefore('last');
    await runtime.runToEnd(run);
    // Without the traces of errors, in which the caller's own lines stand.
    return run.journal().map(({ id, seq, at, type, writer }) => ({ id, seq, at, type, writer }));
  }

  test('gives the same ids and times, and a different seed others', async () => {
    const [first, again, other] = await Promise.all([7, 7, 8].map(journalOf));
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });
});
