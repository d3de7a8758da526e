import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import type { SlackSubscription } from '../../../packages/cairn/src/engine/define/slack.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept, never } from '../../support/intercept.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';
import { commandForm, SlackEndpoint } from './endpoint.ts';

const Request = z.object({ service: z.string().min(1), version: z.string().regex(/^\d+\.\d+\.\d+$/) });

function listening(type: string, slack: SlackSubscription | SlackSubscription[], input: z.ZodType = Request) {
  return defineWorkflow({
    type,
    planVersion: 1,
    input,
    on: { slack },
    steps: (step) => ({ seen: step('see', ({ input }) => input) }),
  });
}

const deploy = listening('deploy', {
  command: '/deploy',
  input({ text }) {
    if (text === 'bug') throw new TypeError('a mistake of the author');
    if (text === 'help') throw new CairnError('INVALID_INPUT', 'say: /deploy SERVICE VERSION');
    const [service, version] = text.split(' ');
    return { service, version };
  },
});
/** Its input is the command itself. */
const raw = listening('raw', [{ command: '/raw' }], z.looseObject({}));

const STARTED = /^Started `deploy`: run `(run_[a-z2-7]{26})`\.$/;

describe('a command', () => {
  test('starts a run of the workflow that declares it, with the mapped input', async () => {
    const endpoint = new SlackEndpoint([deploy, raw]);
    const answer = await endpoint.say({});
    expect(answer).toEqual({
      response_type: 'ephemeral',
      replace_original: false,
      text: expect.stringMatching(STARTED),
    });
    const [, runId = ''] = STARTED.exec(answer.text) ?? [];
    await endpoint.world.run();
    expect(await endpoint.world.folded(runId)).toMatchObject({
      type: 'deploy',
      status: 'completed',
      tenantId: 't1',
      environment: 'test',
      input: { text: '{"service":"shop","version":"1.1.0"}' },
      idempotencyKey: 'slack:T1:1.2.3',
      trigger: { source: 'webhook', userId: 's.T1.U1', webhookEventId: '1.2.3' },
    });
    const [created] = await endpoint.world.store.readEvents(runId, 0, 1);
    expect(created).toMatchObject({ type: 'run_created', initiator: 'webhook', actor: 's.T1.U1' });
  });

  test('has the conversation that its header names', async () => {
    const endpoint = new SlackEndpoint([deploy]);
    const { text } = await endpoint.say({ headers: { 'x-a2a-correlation-id': 'conversation-9' } });
    const [, runId = ''] = STARTED.exec(text) ?? [];
    expect(endpoint.world.stateOf(runId).a2aCorrelationId).toBe('conversation-9');
  });

  test('is itself the input without a mapping', async () => {
    const endpoint = new SlackEndpoint([raw]);
    await endpoint.type({ command: '/raw', text: 'ü & <b>' });
    const [run] = endpoint.world.db.runs.values();
    const input = run?.snapshot.input;
    expect(JSON.parse(input && 'text' in input ? input.text : '')).toEqual({
      command: '/raw',
      text: 'ü & <b>',
      userId: 'U1',
      userName: 'ada',
      teamId: 'T1',
      channelId: 'C1',
      responseUrl: '[redacted]',
      triggerId: '1.2.3',
    });
  });

  test('may have no text and a user without a name', async () => {
    const endpoint = new SlackEndpoint([raw]);
    expect(await endpoint.type({ command: '/raw', text: '', user_name: '' })).toMatch(/^Started `raw`/);
  });

  test('keeps the trace of its request', async () => {
    const endpoint = new SlackEndpoint([deploy]);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    await endpoint.post({ headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } });
    expect([...endpoint.world.db.runs.values()][0]?.snapshot.traceId).toBe(traceId);
  });
});

test('a command costs one commit and one task before it is answered, and reads nothing', async () => {
  const endpoint = new SlackEndpoint([deploy]);
  const { world } = endpoint;
  const calls: string[] = [];
  const noted = <T extends object>(name: string, port: T) =>
    intercept(port, ({ method }, proceed) => {
      calls.push(`${name}.${method}`);
      return proceed();
    });
  const ports = {
    store: noted('store', world.store),
    records: noted('records', world.records),
    queue: noted('queue', world.queue),
  };
  await endpoint.post({}, ports);
  expect(calls).toEqual(['store.start', 'queue.enqueue']);
});

describe('invalid user input gets a text response with 200, and starts nothing', () => {
  const cases: readonly (readonly [why: string, fields: Record<string, string>, words: RegExp])[] = [
    ['a command nobody declared', { command: '/unknown' }, /^No workflow handles \/unknown\.$/],
    ['a command in capitals', { command: '/Deploy' }, /^No workflow handles \/Deploy\.$/],
    ['markup in a command', { command: '/<!channel>&' }, /^No workflow handles \/&lt;!channel&gt;&amp;\.$/],
    ['an input of another form', { text: 'shop next' }, /^input\.version: /],
    ['an input that is missing', { text: '' }, /^input\.service: /],
    ['a text that the mapping refuses', { text: 'help' }, /^say: \/deploy SERVICE VERSION$/],
    ['a text for which the mapping throws', { text: 'bug' }, /^\/deploy cannot be parsed$/],
    ['a team that is not connected', { team_id: 'T2' }, /not connected/],
    ['an unknown command of such a team', { team_id: 'T2', command: '/unknown' }, /not connected/],
  ];
  test.each(cases)('%s', async (_, fields, words) => {
    const endpoint = new SlackEndpoint([deploy]);
    const response = await endpoint.say({ form: commandForm(fields) });
    expect(response).toMatchObject({ response_type: 'ephemeral', text: expect.stringMatching(words) });
    expect(endpoint.written()).toBe(0);
  });

  test('a mistake of the author is logged, and so is an unknown team', async () => {
    const endpoint = new SlackEndpoint([deploy]);
    await endpoint.type({ text: 'bug' });
    await endpoint.type({ team_id: 'T2' });
    expect(endpoint.lines).toMatchObject([
      { level: 'error', event: 'slack_input_failed' },
      { level: 'warn', event: 'slack_team_unknown', fields: { teamId: 'T2' } },
    ]);
  });
});

describe('a trigger id', () => {
  test('starts one run with one answer, however often it comes', async () => {
    const endpoint = new SlackEndpoint([deploy]);
    const texts = await Promise.all(Array.from({ length: 100 }, () => endpoint.type({})));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(STARTED);
    expect(endpoint.world.db.runs.size).toBe(1);
    expect(endpoint.world.queue.pending).toHaveLength(1);
  });

  test('500 requests over 25 triggers, some with a lost acknowledgement, start 25 runs', async () => {
    const world = new World({ workflows: [deploy] });
    const endpoint = new SlackEndpoint([deploy], world);
    let calls = 0;
    let lost = 0;
    const store = intercept(world.store, async ({ method }, proceed) => {
      const result = await proceed();
      calls += 1;
      if (method !== 'start' || calls % 10 !== 0) return result;
      lost += 1;
      throw new OutcomeUnknown('start', 'the answer was lost');
    });
    const answers = Promise.all(
      Array.from({ length: 500 }, async (_, i) => {
        const form = commandForm({ trigger_id: `1.${i % 25}` });
        const answer = await endpoint.post({ form }, { store });
        return ((await answer.json()) as { text: string }).text;
      }),
    );
    let answered = false;
    void answers.finally(() => {
      answered = true;
    });
    for (let turn = 0; turn < 2_000 && !answered; turn += 1) {
      await settle();
      world.clock.fireNext();
    }
    const texts = await answers;
    expect(lost).toBeGreaterThan(5);
    expect(new Set(texts).size).toBe(25);
    for (const text of texts) expect(text).toMatch(STARTED);
    expect(world.db.runs.size).toBe(25);
  });

  test('starts another run in another team', async () => {
    const endpoint = new SlackEndpoint([deploy]);
    const tenants = () => new Map([['T1', 't1'] as const, ['T2', 't2'] as const]);
    await endpoint.post({}, { tenants });
    await endpoint.post({ form: commandForm({ team_id: 'T2' }) }, { tenants });
    const whose = [...endpoint.world.db.runs.values()].map(({ snapshot }) => snapshot.tenantId);
    expect(whose.sort()).toEqual(['t1', 't2']);
  });

  test('with another text is refused with a message', async () => {
    const endpoint = new SlackEndpoint([deploy]);
    await endpoint.type({});
    expect(await endpoint.type({ text: 'shop 9.9.9' })).toMatch(/idempotency key was used/);
    expect(endpoint.world.db.runs.size).toBe(1);
  });
});

describe('a store in trouble', () => {
  function troubled(around: () => Promise<unknown>): SlackEndpoint {
    const world = new World({ workflows: [deploy] });
    const endpoint = new SlackEndpoint([deploy], world);
    Object.assign(endpoint.deps, { store: intercept(world.store, around) });
    return endpoint;
  }

  test('is reported after 2.5 seconds if it does not answer, before Slack gives up', async () => {
    const endpoint = troubled(never);
    const response = endpoint.say({});
    await settle();
    const began = endpoint.world.clock.now();
    expect(endpoint.world.clock.fireNext()).toBe(true);
    expect(endpoint.world.clock.now() - began).toBeLessThanOrEqual(2_500);
    while (endpoint.world.clock.now() - began < 2_500) endpoint.world.clock.fireNext();
    expect((await response).text).toMatch(/takes longer than usual/);
    expect(endpoint.lines).toContainEqual(expect.objectContaining({ event: 'slack_answer_late' }));
  });

  test('is reported with a text, and only the log has the reason', async () => {
    const endpoint = troubled(() => Promise.reject(new TypeError('secret reason')));
    expect((await endpoint.say({})).text).toMatch(/^Cairn cannot determine whether/);
    expect(endpoint.lines).toMatchObject([{ level: 'error', event: 'slack_request_failed' }]);
  });

  test('a queue that fails changes nothing, because the run exists', async () => {
    const endpoint = new SlackEndpoint([deploy]);
    const queue = intercept(endpoint.world.queue, () => Promise.reject(new Error('no queue')));
    Object.assign(endpoint.deps, { queue });
    expect(await endpoint.type({})).toMatch(STARTED);
    expect(endpoint.world.db.runs.size).toBe(1);
  });
});

describe('a definition', () => {
  test.each(['deploy', '/', '/De', '/a b', '/a/b', `/${'a'.repeat(32)}`, ''])(
    'with the command %j is refused',
    (command) => {
      expect(() => listening('w', { command })).toThrow('is not a slash command');
    },
  );

  test('with a repeated command is refused', () => {
    expect(() => listening('w', [{ command: '/a' }, { command: '/a' }])).toThrow("'/a' is listed twice");
  });

  test('two workflows cannot have one command, but two versions of one can', () => {
    const other = listening('other', { command: '/deploy' });
    expect(() => new World({ workflows: [deploy, other] })).toThrow("'deploy' and 'other' both handle");
    const next = { ...deploy, planVersion: 2 };
    const { registry } = new World({ workflows: [deploy, next] }).deps;
    expect(registry.slackListener('/deploy')?.workflow.planVersion).toBe(2);
  });

  test('a command that the newest version no longer declares is free', () => {
    const next = { ...deploy, planVersion: 2, slack: [] };
    const other = listening('other', { command: '/deploy' });
    const { registry } = new World({ workflows: [deploy, next, other] }).deps;
    expect(registry.slackListener('/deploy')?.workflow.type).toBe('other');
  });
});
