import { afterAll, test } from '@jest/globals';
import { writeSnippets } from './snippets.ts';

const snippets = writeSnippets('docs/testing.md');
afterAll(() => snippets.remove());

test('what docs/testing.md shows compiles', () => {
  snippets.compile();
});

// The tests of the worked example, as they stand there.
await import(snippets.at('test/workflows/order-return.test.ts'));
