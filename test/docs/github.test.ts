import { expect, test } from '@jest/globals';
import { githubTenantsIn } from '../../packages/cairn/src/triggers/github/tenants.ts';
import { readDocument } from './snippets.ts';

test('the mapping in docs/github.md has the meaning that its table states', () => {
  const text = readDocument('docs/github.md');
  const [, listed = ''] = /^GITHUB_TENANTS=(.*)$/m.exec(text) ?? [];
  expect(githubTenantsIn({ listed, others: '' })).toEqual({
    installations: new Map([['41236857', 'acme']]),
    owners: new Map([['octo-org', 'globex']]),
    others: 'others',
  });
  const explained = [...text.matchAll(/^\| `(.+?)` \|/gm)].map(([, entry]) => entry);
  expect(explained).toEqual(listed.split(','));
});
