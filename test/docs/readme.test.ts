import { afterAll, expect, test } from '@jest/globals';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { createTestRuntime, expectJournal } from '../../packages/cairn/src/testing/index.ts';
import { compileSnippets, documentsWithFiles, writeSnippets } from './snippets.ts';

const snippets = writeSnippets('README.md');
afterAll(() => snippets.remove());

test('the code in the README and the documents compiles', () => {
  const documents = documentsWithFiles();
  expect(documents).toEqual(
    expect.arrayContaining(['README.md', 'docs/effects.md', 'docs/events.md', 'docs/workflows.md']),
  );
  compileSnippets(documents);
});

test.each([
  { loud: false, text: 'Hello, Ada' },
  { loud: true, text: 'HELLO, ADA' },
])('the workflow in the README outputs $text', async ({ loud, text }) => {
  const { greet } = (await import(snippets.at('functions/src/workflows/greet.ts'))) as { greet: Workflow };
  const runtime = createTestRuntime({ workflows: [greet] });
  const run = await runtime.start('greet', { name: 'Ada', loud });
  await runtime.runToEnd(run);
  expect(await run.result()).toEqual({ send: { text } });
});

test('the workflow in the README greets once, although its process dies halfway', async () => {
  const { greet } = (await import(snippets.at('functions/src/workflows/greet.ts'))) as { greet: Workflow };
  const runtime = createTestRuntime({ workflows: [greet] });
  const run = await runtime.start('greet', { name: 'Ada', loud: true });
  runtime.crashAfter('shout');
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(await run.result()).toEqual({ send: { text: 'HELLO, ADA' } });
  expect(run.calls('shout')).toBe(2);
  expectJournal(run.journal()).toHave('orphan_detected', 1).toHaveRun('greeting', 1);
});
