import { describe, expect, test } from '@jest/globals';
import { pretendedPublisher, publish, research } from '../../examples/research/agent.ts';
import { approvedReport } from '../../examples/research/research.sweep.ts';
import { defineBinding } from '../../packages/cairn/src/engine/define/capability.ts';
import { createTestRuntime } from '../../packages/cairn/src/testing/index.ts';

/** A sweep takes some seconds on a quiet machine. */
const PATIENCE_MS = 300_000;

describe('the research agent', () => {
  test("reads its sources concurrently, asks a person before it publishes, and counts the model's usage", async () => {
    const runtime = createTestRuntime({ workflows: [research], bindings: [pretendedPublisher] });
    const run = await runtime.start('research', {});
    await runtime.runUntilBlocked(run);
    expect(run.status()).toBe('awaiting_approval');
    await runtime.decide(run, 'approve', { step: 'flow[approve-publish]' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({
      output: { text: 'The report is published.', turns: 4, usage: { input: 40, output: 40 } },
    });
    expect(run.steps().map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'flow[model.4]',
        'flow[search]',
        'flow[read]',
        'flow[read.2]',
        'flow[publish]',
      ]),
    );
    const used = run.journal().flatMap(({ data }) => ('tokensUsed' in data ? [data.tokensUsed] : []));
    expect(used).toEqual([1, 2, 3, 4].map(() => ({ input: 10, output: 10 })));
    expect(run.effects()).toHaveLength(1);
  });

  test('tells the model that a person refused, and publishes nothing', async () => {
    let published = 0;
    const binding = defineBinding(publish, {
      id: 'counted',
      call: async () => {
        published += 1;
        return { url: '' };
      },
    });
    const runtime = createTestRuntime({ workflows: [research], bindings: [binding] });
    const run = await runtime.start('research', {});
    await runtime.runUntilBlocked(run);
    await runtime.decide(run, 'reject', { step: 'flow[approve-publish]' });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toMatchObject({ output: { text: 'The report is not published.' } });
    expect(published).toBe(0);
  });

  test(
    'publishes once, wherever its worker dies',
    async () => {
      const { failures, points } = await approvedReport.run();
      expect(failures).toEqual([]);
      expect(points).toBeGreaterThan(40);
    },
    PATIENCE_MS,
  );
});
