import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { GithubApi } from '../../packages/cairn/src/capabilities/github/api.ts';
import { githubBindings } from '../../packages/cairn/src/capabilities/github/bindings.ts';
import { slackRespondBinding } from '../../packages/cairn/src/capabilities/slack/respond.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

const TRACEPARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const SHA = 'd'.repeat(40);

/** Whatever the bindings ask for: each takes its part. What they make of the answer is shown elsewhere. */
const REQUEST = {
  repository: 'acme/uploader',
  number: 7,
  sha: SHA,
  body: 'x',
  context: 'c',
  state: 'success',
  description: 'd',
  targetUrl: 'https://example.com/',
  name: 'n',
  conclusion: 'neutral',
  title: 't',
  summary: 's',
  labels: ['x'],
  label: 'x',
  responseUrl: 'https://hooks.slack.com/commands/T1/22/s3cret',
  text: 'Done.',
};

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.asked.length = 0;
  server.answers = [{ status: 200, body: [] }];
});

const BINDINGS = [
  'github.create-comment',
  'github.set-commit-status',
  'github.create-check-run',
  'github.add-labels',
  'github.remove-label',
  'slack.respond',
];

function bindings() {
  const clock = new VirtualClock();
  const api = new GithubApi({ baseUrl: server.url, token: () => 't0ken', clock, settleMs: 0 });
  return [...githubBindings(api), slackRespondBinding({ baseUrl: server.url, clock })];
}

test('this test covers every shipped binding', () => {
  expect(
    bindings()
      .map(({ capability }) => capability.id)
      .sort(),
  ).toEqual(BINDINGS.toSorted());
});

test.each(BINDINGS)(
  '%s sends the receiver the span of each call and each lookup, and none without one',
  async (id) => {
    const binding = bindings().find(({ capability }) => capability.id === id);
    if (!binding) throw new Error(`${id} is not bound`);
    const options = { idempotencyKey: '1'.repeat(64), signal: new AbortController().signal, attemptedAt: 0 };
    const traced = { ...options, traceparent: TRACEPARENT };
    const traceparentOf = async (ask: () => Promise<unknown> | undefined) => {
      server.asked.length = 0;
      await Promise.resolve(ask()).catch(() => undefined);
      return server.asked.map(({ headers }) => headers.traceparent);
    };
    expect(await traceparentOf(() => binding.call(REQUEST, traced))).toEqual([TRACEPARENT]);
    expect(await traceparentOf(() => binding.call(REQUEST, options))).toEqual([undefined]);
    if (binding.lookup)
      expect(await traceparentOf(() => binding.lookup?.(REQUEST, traced))).toContain(TRACEPARENT);
  },
);
