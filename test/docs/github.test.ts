import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { githubTenantsIn } from '../../packages/cairn/src/triggers/github/tenants.ts';
import { githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { GITHUB_SECRET, Installation } from '../api/installation.ts';
import { curlRequest } from './curl.ts';
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

test('the commands of docs/github.md are signed as GitHub signs', async () => {
  const reviewed = defineWorkflow({
    type: 'reviewed',
    planVersion: 1,
    input: z.looseObject({}),
    on: { github: { event: 'pull_request', actions: ['opened'] } },
    steps: (step) => ({ a: step('a', () => 1) }),
  });
  const [, block = ''] = /^```\n(BODY=[\s\S]*?)^```/m.exec(readDocument('docs/github.md')) ?? [];
  const installation = new Installation([reviewed]);
  const request = curlRequest(block, { SECRET: GITHUB_SECRET, URL: 'http://cairn.test' });
  const answer = await githubWebhook(installation.github, request);
  expect([answer.status, await answer.json()]).toEqual([
    202,
    expect.objectContaining({ runId: expect.stringMatching(/^run_/) }),
  ]);
});
