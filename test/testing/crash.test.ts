import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { createTestRuntime, expectJournal } from '../../packages/cairn/src/testing/index.ts';
import { nap, once, shaky } from './fixtures.ts';

describe('a crash', () => {
  test.each([
    ['before', 1],
    ['after', 2],
  ] as const)('%s a step is recovered, and no step that was recorded runs again', async (moment, calls) => {
    const runtime = createTestRuntime({ workflows: [shaky] });
    const run = await runtime.start('shaky');
    if (moment === 'before') runtime.crashBefore('middle');
    else runtime.crashAfter('middle');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ last: 3 });
    expect([run.calls('first'), run.calls('middle'), run.calls('last')]).toEqual([1, calls, 1]);
    expectJournal(run.journal())
      .toHave('orphan_detected', 1)
      .toHave('run_resumed', 1)
      .toHaveRun('middle', 1)
      .toHaveEndedInOrder('first', 'middle', 'last')
      .toEndAs('completed');
  });

  test('now stops every running body, and nothing it still does counts', async () => {
    const ends: ((value: string) => void)[] = [];
    const workflow = defineWorkflow({
      type: 'slow',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        end: step('work', () => new Promise<string>((resolve) => void ends.push(resolve))),
      }),
    });
    const runtime = createTestRuntime({ workflows: [workflow], patienceMs: 0 });
    const runs = [await runtime.start('slow'), await runtime.start('slow')];
    await runtime.settle();
    expect(ends).toHaveLength(2);
    runtime.crash();
    for (const end of ends) end('of a dead process');
    await runtime.settle();
    expect(runs.map((run) => run.status())).toEqual(['running', 'running']);
    await runtime.advance('10s');
    expect(ends).toHaveLength(4);
    for (const end of ends.slice(2)) end('of a living one');
    for (const run of runs) {
      expect(await runtime.runToEnd(run)).toBe('completed');
      expect(await run.result()).toEqual({ end: 'of a living one' });
    }
  });

  test('happens once, and only at its step', async () => {
    const runtime = createTestRuntime({ workflows: [shaky] });
    runtime.crashBefore('nobody');
    runtime.crashBefore('last');
    const run = await runtime.start('shaky');
    await runtime.runToEnd(run);
    expectJournal(run.journal()).toHave('orphan_detected', 1);
  });

  test('is noticed when the queue delivers the task again, and not before', async () => {
    const runtime = createTestRuntime({ workflows: [shaky] });
    runtime.crashBefore('middle');
    const run = await runtime.start('shaky');
    await runtime.advance('50ms');
    expect(run.status()).toBe('running');
    await runtime.advance('1s');
    expect(run.status()).toBe('completed');
  });

  test('ends a run whose step must not run twice, with the reason', async () => {
    const runtime = createTestRuntime({ workflows: [once] });
    runtime.crashAfter('pay');
    const run = await runtime.start('once');
    expect(await runtime.runToEnd(run)).toBe('failed');
    expectJournal(run.journal()).toEndAs('failed', 'RUN_ORPHANED');
    expect(run.calls('pay')).toBe(1);
  });

  test('at any moment is survived by a run that sleeps', async () => {
    const runtime = createTestRuntime({ workflows: [nap] });
    const run = await runtime.start('nap');
    runtime.crash();
    await runtime.settle();
    runtime.crash();
    await runtime.advance('25h');
    expect(run.status()).toBe('completed');
    expectJournal(run.journal()).toHaveRun('before', 1).toHaveRun('after', 1);
  });
});
