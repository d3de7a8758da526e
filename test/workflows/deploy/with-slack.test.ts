import { describe, expect, test } from '@jest/globals';
import { deployWithSlack } from '../../../functions/src/workflows/deploy/with-slack.ts';
import { slackRespond } from '../../../packages/cairn/src/capabilities/slack/respond.ts';
import { NotApplied } from '../../../packages/cairn/src/core/errors.ts';
import { defineBinding } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { SlackCommand } from '../../../packages/cairn/src/engine/define/slack.ts';
import { createTestRuntime, expectJournal } from '../../../packages/cairn/src/testing/index.ts';
import { PretendedTarget } from './pretended-target.ts';

const SHA = 'c'.repeat(40);
const RESPONSE_URL = 'https://hooks.slack.com/commands/T1/22/s3cret';

const COMMAND: SlackCommand = {
  command: '/deploy',
  text: `shop staging 1.1.0 1.0.0 ${SHA} 1m`,
  userId: 'U1',
  userName: 'ada',
  teamId: 'T1',
  channelId: 'C1',
  responseUrl: RESPONSE_URL,
  triggerId: '1.2',
};

const inputOf = (text: string) =>
  deployWithSlack(new PretendedTarget('1.0.0')).slack[0]?.input?.({ ...COMMAND, text });

/** A deployment that somebody typed, with its build green. */
async function deploying({ fails, input = inputOf(COMMAND.text) }: { fails?: Error; input?: unknown } = {}) {
  const said: { responseUrl: string; text: string }[] = [];
  const binding = defineBinding(slackRespond, {
    id: 'slack.respond.pretended',
    async call(request) {
      said.push(request);
      if (fails) throw fails;
      return {};
    },
  });
  const target = new PretendedTarget('1.0.0');
  const runtime = createTestRuntime({ workflows: [deployWithSlack(target)], bindings: [binding] });
  const run = await runtime.start('deploy', input);
  await runtime.settle();
  await runtime.deliver({ event: 'ci.finished', key: SHA, data: { conclusion: 'success' } });
  return { said, target, runtime, run };
}

describe('a deployment started by a slash command', () => {
  test('reports its success in the channel', async () => {
    const { said, target, runtime, run } = await deploying();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(target.version).toBe('1.1.0');
    expect(said).toEqual([
      {
        responseUrl: RESPONSE_URL,
        to: 'channel',
        text: `The deployment of *shop* 1.1.0 to staging succeeded. Run \`${run.id}\`.`,
      },
    ]);
  });

  test('reports its failure once everything is rolled back', async () => {
    const { said, target, runtime, run } = await deploying();
    target.ill.add('1.1.0');
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(target).toMatchObject({ version: '1.0.0', isLocked: false });
    expect(said.map(({ text }) => text)).toEqual([
      `The deployment of *shop* 1.1.0 to staging did not succeed. Its changes were rolled back. Run \`${run.id}\`.`,
    ]);
    expectJournal(run.journal()).toHaveCompensated('prepare', 'lock', 'promise-an-answer');
  });

  test('stays deployed although Slack accepts no answer any more', async () => {
    const { runtime, run } = await deploying({ fails: new NotApplied('expired_url', { final: true }) });
    expect(await runtime.runToEnd(run)).toBe('completed');
    expectJournal(run.journal()).toHaveSkipped('tell');
  });

  test('with an answer in doubt asks a person, and does not send it again', async () => {
    const { said, runtime, run } = await deploying({ fails: new Error('no answer') });
    await runtime.advance('2m');
    expect(run.waits()).toMatchObject([{ step: 'tell', question: expect.stringContaining('slack.respond') }]);
    expect(said).toHaveLength(1);
  });

  test('without a response URL sends nothing, and has the same result', async () => {
    const { replyTo, ...input } = inputOf(COMMAND.text) as Record<string, unknown>;
    const { said, target, runtime, run } = await deploying({ input });
    expect([replyTo, await runtime.runToEnd(run), said]).toEqual([RESPONSE_URL, 'completed', []]);
    expect(target.acts).toEqual(['lock', 'release 1.1.0', 'unlock']);
  });
});

describe('/deploy', () => {
  test('accepts service, environment, version, previous version, commit, and time to watch', () => {
    const request = { service: 'shop', environment: 'staging', version: '2', previousVersion: '1', sha: SHA };
    expect(inputOf(`shop  staging 2 1 ${SHA}`)).toEqual({ ...request, replyTo: RESPONSE_URL });
    expect(inputOf(` shop staging 2 1 ${SHA} 5m `)).toMatchObject({ soak: '5m' });
  });

  test.each(['', 'help', 'shop staging 2 1', `shop staging 2 1 ${SHA} 5m more`])(
    '%j is answered with the usage',
    (text) => {
      expect(() => inputOf(text)).toThrow('Usage: /deploy SERVICE');
    },
  );

  test('validates its input like every other start', () => {
    const { input } = deployWithSlack(new PretendedTarget('1.0.0'));
    expect(input.safeParse(inputOf(`shop staging 2 2 ${SHA}`)).success).toBe(false);
    expect(input.safeParse(inputOf(`<!channel> staging 2 1 ${SHA}`)).success).toBe(false);
    expect(input.safeParse(inputOf(`shop staging 2 1 ${SHA}`)).success).toBe(true);
  });
});
