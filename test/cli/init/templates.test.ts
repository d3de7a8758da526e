import { afterAll, describe, expect, test } from '@jest/globals';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';
import { INIT_CODES } from '../../../packages/cli/src/init/problem.ts';
import { templatesOf } from '../../../packages/cli/src/init/templates.ts';
import { readDocument, writeSnippets } from '../../docs/snippets.ts';

const snippets = writeSnippets('docs/adopt.md');
afterAll(() => snippets.remove());

const installed = { version: '0.2.0', dependencies: {} };
const options = {
  name: 'cairn',
  node: '24',
  region: 'us-central1',
  installed,
  packageManager: 'npm',
} as const;
const templates = templatesOf({ ...options, language: 'ts' });
const contentOf = (path: string) => String(templates.find((one) => one.path === path)?.content);

describe('what cairn init writes', () => {
  test.each(['src/index.ts', 'src/workflows/order.ts'])(
    'is what docs/adopt.md shows, compiled: %s',
    (path) => {
      expect(readDocument('docs/adopt.md')).toContain(
        `<!-- file: cairn/${path} -->\n\`\`\`ts\n${contentOf(path)}\`\`\`\n`,
      );
    },
  );

  test('differs for JavaScript only in a file name, because the example has no types', () => {
    const js = templatesOf({ ...options, language: 'js' });
    const all = Object.fromEntries(js.map(({ path, content }) => [path, String(content)]));
    expect(all['src/workflows/order.js']).toBe(contentOf('src/workflows/order.ts'));
    expect(all['src/index.js']).toBe(contentOf('src/index.ts').replace('order.ts', 'order.js'));
  });

  test('completes an order even if its worker dies during the charge', async () => {
    const { order } = (await import(snippets.at('cairn/src/workflows/order.ts'))) as { order: Workflow };
    const runtime = createTestRuntime({ workflows: [order] });
    const run = await runtime.start('order', { orderId: 'o-1', amountCents: 1200 });
    runtime.crashAfter('charge');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ ship: { shipped: 'stock-o-1' } });
  });
});

test('is explained in docs/adopt.md for each code', () => {
  const rows = readDocument('docs/adopt.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  for (const code of INIT_CODES)
    expect([code, rows.some((row) => row.includes(`\`${code}\``))]).toEqual([code, true]);
});
