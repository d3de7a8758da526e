/** Texts from people are only in the store, where they can be erased, and in no line of the log, whichever entry point received them. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../packages/cairn/src/api/app.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { PRODUCTION_SETTINGS } from '../../packages/cairn/src/engine/settings.ts';
import { deleteExpiredRuns } from '../../packages/cairn/src/operations/retention/delete-expired.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { CollectedLog } from '../../packages/cairn/src/testing/world/collected-log.ts';
import { githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { takeMessage } from '../../packages/cairn/src/triggers/pubsub/take-message.ts';
import { tick } from '../../packages/cairn/src/triggers/schedule/tick.ts';
import { slackWebhook } from '../../packages/cairn/src/triggers/slack/webhook.ts';
import { deliveryRequest, Installation } from '../api/installation.ts';
import { Outside } from '../support/outside.ts';
import { commandForm, SLACK_SECRET, slackRequest } from './slack/endpoint.ts';

const MARK = 'ada.lovelace@example.com';
const DAY_MS = 86_400_000;

const mails = new Outside({ id: 'mail.send' });

/** Uses its input wherever a body can. */
const telling = defineWorkflow({
  type: 'telling',
  planVersion: 1,
  input: z.looseObject({}),
  on: {
    github: { event: 'push' },
    slack: { command: '/tell' },
    schedule: { cron: '0 * * * *', input: { mail: MARK } },
    pubsub: { topic: 'told' },
  },
  steps(step) {
    const said = step('say', { uses: [mails.capability] }, async ({ memo, heartbeat, perform }) => {
      heartbeat({ to: MARK });
      await memo('to', () => MARK);
      await perform(mails.capability, { text: MARK });
      return { mail: MARK };
    });
    const heard = step.event('hear', { needs: { said }, event: 'told', key: () => MARK, timeout: '1d' });
    const asked = step.approval('ask', { needs: { said }, ask: () => `May I write to ${MARK}?` });
    const broken = step('break', { needs: { heard, asked }, onFailure: 'skip' }, () => {
      throw new Error(`no such mailbox: ${MARK}`);
    });
    return { broken };
  },
});

let installation: Installation;
let log: CollectedLog;
let key: string;
beforeEach(async () => {
  mails.faults.length = 0;
  installation = new Installation([telling], [mails.binding]);
  log = new CollectedLog(installation.world.clock);
  key = await installation.key('ops', { roles: ['installation'] });
});

function logged() {
  const { apiDeps, github, world } = installation;
  const all = { ...apiDeps, log };
  // On a local machine the log shows errors of bodies.
  const settings = { ...world.deps.settings, logsThrown: PRODUCTION_SETTINGS.logsThrown };
  return {
    api: createApi(all),
    github: { ...github, log },
    all,
    deps: { ...world.deps, log, settings },
  };
}

async function post(path: string, body: object, status = 200): Promise<Record<string, unknown>> {
  const answer = await logged().api.request(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
  const said = (await answer.json()) as Record<string, unknown>;
  expect([path, answer.status, said]).toEqual([path, status, said]);
  return said;
}

async function drive(): Promise<void> {
  const { deps } = logged();
  await installation.world.run(
    () => installation.world.queue.due(installation.world.clock.now()).length === 0,
    deps,
  );
}

function assertSilent(): void {
  expect(log.lines.length).toBeGreaterThan(3);
  expect(log.lines.filter((line) => JSON.stringify(line).includes('ada.lovelace'))).toEqual([]);
}

async function started(): Promise<string> {
  const { runId } = await post('/v1/runs', { type: 'telling', input: { mail: MARK } }, 201);
  await drive();
  return String(runId);
}

test('no line of the log has personal data of an input, an output, a memo, a request, a question, an event, an answer and an error', async () => {
  const runId = await started();
  await post('/v1/events', { event: 'told', key: MARK, data: { by: MARK } });
  await post(`/v1/runs/${runId}/signals`, { name: 'aside', data: { by: MARK } });
  await post(`/v1/runs/${runId}/approvals/ask`, { decision: 'approve', note: `yes, ${MARK}` });
  await drive();
  expect(JSON.stringify([...installation.world.db.runs.values()])).toContain(MARK);
  expect(mails.applied.length).toBeGreaterThan(0);
  assertSilent();
});

test('no line of the log has personal data of the resolution of a side effect in doubt', async () => {
  mails.faults.push('lose_answer');
  const runId = await started();
  const [wait] = installation.world.stateOf(runId).waits;
  const answer = { outcome: 'failed', note: `${MARK} has it` };
  await post(`/v1/runs/${runId}/effects/${wait?.effectId ?? ''}/resolve`, answer);
  await drive();
  assertSilent();
});

test('no line of the log has personal data of the reasons that people give', async () => {
  const reason = `requested by ${MARK}`;
  const runId = await started();
  await post(`/v1/runs/${runId}/suspend`, { reason });
  await post(`/v1/runs/${runId}/continue`, { reason });
  await post(`/v1/runs/${runId}/hold`, { reason });
  await post(`/v1/runs/${runId}/release-hold`, {});
  await post(`/v1/runs/${runId}/cancel`, { reason });
  await drive();
  await post(`/v1/runs/${runId}/erase`, { confirm: runId }, 202);
  assertSilent();
});

describe('no line of the log has personal data of a run that is started by', () => {
  test.each<[string, () => Promise<unknown>]>([
    [
      'GitHub',
      () =>
        githubWebhook(
          logged().github,
          deliveryRequest({ event: 'push', body: JSON.stringify({ pusher: { email: MARK } }) }),
        ),
    ],
    [
      'Slack',
      () => {
        const slack = {
          ...logged().all,
          secrets: () => [SLACK_SECRET],
          tenants: () => new Map([['T1', 'acme']]),
        };
        const form = commandForm({ command: '/tell', text: MARK });
        return slackWebhook(slack, slackRequest({ now: installation.world.clock.now(), form }));
      },
    ],
    [
      'Pub/Sub',
      () => {
        const data = Buffer.from(JSON.stringify({ mail: MARK })).toString('base64');
        const message = { messageId: '1', data, attributes: {} };
        const deps = { ...logged().all, tenantId: 'acme' };
        return takeMessage(deps, 'told', { subscription: 'projects/p/subscriptions/s', message });
      },
    ],
    [
      'a schedule',
      async () => {
        const deps = { ...logged().all, declaredTenant: 'acme' };
        await tick(deps);
        installation.world.clock.jump(3_600_000);
        await tick(deps);
      },
    ],
  ])('%s', async (_, send) => {
    await send();
    expect(installation.world.db.runs.size).toBe(1);
    await drive();
    assertSilent();
  });
});

test('no line of the log has personal data of a refused request', async () => {
  await post('/v1/runs', { type: 'telling', input: { mail: MARK }, [MARK]: 1 }, 400);
  await post('/v1/runs', { type: MARK, input: {} }, 404).catch(() => undefined);
  await githubWebhook(logged().github, deliveryRequest({ event: 'push', body: `{"mail": "${MARK}"` }));
  expect(log.lines.filter((line) => JSON.stringify(line).includes('ada.lovelace'))).toEqual([]);
});

test('no line of the log has personal data of runs that are recovered and deleted', async () => {
  await started();
  const { deps } = logged();
  installation.world.clock.jump(2 * DAY_MS);
  await scan(deps);
  await drive();
  const { retention, erasures, retentionOf } = installation.apiDeps;
  for (let ticks = 0; ticks < 3; ticks += 1) {
    await deleteExpiredRuns({ ...deps, retention, erasures, retentionOf });
    installation.world.clock.jump(DAY_MS);
  }
  assertSilent();
});
