import { afterAll, expect, test } from '@jest/globals';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { createTestRuntime, expectJournal, type Sweep } from '../../../packages/cairn/src/testing/index.ts';
import { readDocument, writeSnippets } from '../snippets.ts';

const snippets = writeSnippets('docs/testing.md');
afterAll(() => snippets.remove());

test('a failed expectation reads as docs/testing.md shows it', async () => {
  const { orderReturn } = (await import(snippets.at('functions/src/workflows/order-return.ts'))) as {
    orderReturn: (shop: object) => Workflow;
  };
  const runtime = createTestRuntime({ workflows: [orderReturn({})] });
  const run = await runtime.start('order-return', { order: 'o-17', cents: 4_000 });
  await runtime.advance('24h');
  const [, shown = ''] =
    /^```\n(JournalMismatch: [\s\S]*?)\n```/m.exec(readDocument('docs/testing.md')) ?? [];
  expect(() => expectJournal(run.journal()).toHaveRun('refund')).toThrow(
    expect.objectContaining({ message: shown.replace('JournalMismatch: ', '') }),
  );
});

test('the sweep of docs/testing.md recovers at every point', async () => {
  const { returned } = (await import(snippets.at('test/workflows/order-return.sweep.ts'))) as {
    returned: Sweep;
  };
  const { points, failures } = await returned.run();
  expect(failures).toEqual([]);
  expect(points).toBeGreaterThan(30);
});

// The tests of the worked example, as they stand there.
await import(snippets.at('test/workflows/order-return.test.ts'));
