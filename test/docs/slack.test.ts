import { afterAll, expect, test } from '@jest/globals';
import { slackRespond } from '../../packages/cairn/src/capabilities/slack/respond.ts';
import { defineBinding } from '../../packages/cairn/src/engine/define/capability.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { createTestRuntime } from '../../packages/cairn/src/testing/index.ts';
import { slackWebhook } from '../../packages/cairn/src/triggers/slack/webhook.ts';
import { World } from '../support/world.ts';
import { SLACK_SECRET, SlackEndpoint } from '../triggers/slack/endpoint.ts';
import { curlRequest } from './curl.ts';
import { readDocument, writeSnippets } from './snippets.ts';

const snippets = writeSnippets('docs/slack.md');
afterAll(() => snippets.remove());

async function doorOf(): Promise<SlackEndpoint> {
  const { greet } = (await import(snippets.at('functions/src/workflows/greet.ts'))) as { greet: Workflow };
  return new SlackEndpoint([], new World({ workflows: [greet] }));
}

test('the workflow of docs/slack.md gives the documented answers', async () => {
  const endpoint = await doorOf();
  const type = (text: string, trigger_id: string) => endpoint.type({ command: '/greet', text, trigger_id });
  expect(await type('help', '1')).toBe('Say: /greet NAME TIMES');
  expect(await type('Ada many', '2')).toMatch(/^input\.times: /);
  expect(await type('Ada 99', '3')).toMatch(/^input\.times: /);
  expect(endpoint.written()).toBe(0);
  expect(await type('', '4')).toMatch(/^Started `greet`/);
});

test('the workflow of docs/slack.md that posts an answer does so', async () => {
  const { answer } = (await import(snippets.at('functions/src/workflows/answer.ts'))) as { answer: Workflow };
  const received: string[] = [];
  const binding = defineBinding(slackRespond, {
    id: 'slack.respond.pretended',
    async call({ text }) {
      received.push(text);
      return {};
    },
  });
  const runtime = createTestRuntime({ workflows: [answer], bindings: [binding] });
  const run = await runtime.start('answer', { text: 'Hello', responseUrl: 'https://hooks.slack.com/x' });
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(received).toEqual(['5 letters.']);
});

test('the commands of docs/slack.md are signed as Slack signs', async () => {
  const [, block = ''] = /^```\n(NOW=[\s\S]*?)^```/m.exec(readDocument('docs/slack.md')) ?? [];
  const request = curlRequest(block, { SECRET: SLACK_SECRET, URL: 'http://cairn.test' });
  const endpoint = await doorOf();
  const clock = { ...endpoint.deps.clock, now: Date.now, timer: () => () => {} };
  const deps = {
    ...endpoint.deps,
    clock,
    tenants: () => new Map([['TLOCAL', 'local']]),
  };
  const answer = await slackWebhook(deps, request);
  expect([answer.status, ((await answer.json()) as { text: string }).text]).toEqual([
    200,
    expect.stringMatching(/^Started `greet`: run `run_/),
  ]);
});
