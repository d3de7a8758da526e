import { afterAll, expect, test } from '@jest/globals';
import { installedWorkflows } from '../../../functions/src/shipped.ts';
import { writeSnippets } from '../snippets.ts';

const snippets = writeSnippets('docs/first-workflow.md');
afterAll(() => snippets.remove());

test('the module on the page installs its workflows beside the shipped ones', async () => {
  await import(snippets.at('functions/src/my-functions.ts'));
  expect(installedWorkflows().map(({ type }) => type)).toEqual(
    expect.arrayContaining(['invite-team', 'open-account', 'review-pull-request']),
  );
});

// The test on the page, as it stands there.
await import(snippets.at('test/workflows/invite-team.test.ts'));
