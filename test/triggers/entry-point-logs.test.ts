import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../packages/cairn/src/api/app.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { CollectedLog } from '../../packages/cairn/src/testing/world/collected-log.ts';
import { githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { takeMessage } from '../../packages/cairn/src/triggers/pubsub/take-message.ts';
import { tick } from '../../packages/cairn/src/triggers/schedule/tick.ts';
import { slackWebhook } from '../../packages/cairn/src/triggers/slack/webhook.ts';
import { deliveryRequest, Installation } from '../api/installation.ts';
import { commandForm, SLACK_SECRET, slackRequest } from './slack/endpoint.ts';

const anything = defineWorkflow({
  type: 'anything',
  planVersion: 1,
  input: z.looseObject({}),
  on: {
    github: { event: 'push' },
    slack: { command: '/deploy' },
    schedule: { cron: '0 * * * *' },
    pubsub: { topic: 'releases' },
  },
  steps: (step) => ({ a: step('a', () => 1) }),
});

const HOUR_MS = 3_600_000;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };

let installation: Installation;
let log: CollectedLog;
let key: string;
beforeEach(async () => {
  installation = new Installation([anything]);
  log = new CollectedLog(installation.world.clock);
  key = await installation.key('ops', { roles: ['operator'] });
});

/** The dependencies of the entry points, with a log that the test can read. */
function logged() {
  const { apiDeps, github } = installation;
  const deps = { ...apiDeps, log };
  return { api: createApi(deps), github: { ...github, log }, deps };
}

async function post(path: string, body: object, idempotencyKey: string): Promise<number> {
  const answer = await logged().api.request(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
      ...TRACEPARENT,
    },
  });
  return answer.status;
}

/** Each call of `send` sends the same request. */
const ENTRY_POINTS = {
  api: {
    source: 'api',
    idempotencyKey: 'api:c.ops:k1',
    traceId: TRACE,
    send: () => post('/v1/runs', { type: 'anything', input: {} }, 'k1'),
  },
  github: {
    source: 'github_webhook',
    idempotencyKey: 'github:d1',
    traceId: TRACE,
    send: () =>
      githubWebhook(logged().github, deliveryRequest({ event: 'push', id: 'd1', headers: TRACEPARENT })),
  },
  slack: {
    source: 'slack',
    idempotencyKey: 'slack:T1:1.2.3',
    traceId: TRACE,
    send() {
      const tenants = () => new Map([['T1', 'acme']]);
      const deps = { ...logged().deps, secrets: () => [SLACK_SECRET], tenants };
      const now = installation.world.clock.now();
      return slackWebhook(deps, slackRequest({ now, form: commandForm(), headers: TRACEPARENT }));
    },
  },
  pubsub: {
    source: 'pubsub',
    idempotencyKey: 'pubsub:sub-1:7',
    traceId: undefined,
    send() {
      const message = { messageId: '7', data: Buffer.from('{}').toString('base64') };
      const delivered = { subscription: 'projects/p/subscriptions/sub-1', message };
      return takeMessage({ ...logged().deps, tenantId: 'acme' }, 'releases', delivered);
    },
  },
  schedule: {
    source: 'scheduler',
    idempotencyKey: 'scheduler:anything:2026-01-01T01:00:00Z',
    // Nobody requested the run, so it begins a trace of its own.
    traceId: undefined,
    async send() {
      const { world } = installation;
      const deps = { ...logged().deps, declaredTenant: 'acme' };
      await tick(deps);
      if (log.lines.length === 0 || !log.lines.some(({ event }) => event === 'run_created')) {
        world.clock.jump(HOUR_MS);
        return tick(deps);
      }
      const at = '2026-01-01T01:00:00Z';
      return post('/v1/schedules/anything/backfill', { from: at, to: at }, 'again');
    },
  },
} as const;

function linesOf(event: string) {
  return log.lines.filter((line) => line.event === event);
}

describe.each(Object.entries(ENTRY_POINTS))(
  'the entry point %s',
  (_name, { send, source, idempotencyKey, traceId }) => {
    test('logs a run that it started, and each repetition of the request, with run, tenant and trace', async () => {
      await send();
      const [run] = [...installation.world.db.runs.values()].map(({ snapshot }) => snapshot);
      expect(linesOf('run_created')).toMatchObject([
        {
          level: 'info',
          fields: {
            runId: run?.id,
            type: 'anything',
            tenantId: 'acme',
            source,
            idempotencyKey,
            traceId: run?.traceId,
          },
        },
      ]);
      if (traceId !== undefined) expect(run?.traceId).toBe(traceId);
      expect(linesOf('idempotency_hit')).toEqual([]);

      await send();
      await send();
      expect(installation.world.db.runs.size).toBe(1);
      expect(linesOf('run_created')).toHaveLength(1);
      const hits = linesOf('idempotency_hit').filter(({ fields }) => fields.key === idempotencyKey);
      expect(hits.length).toBeGreaterThanOrEqual(1);
      for (const { level, fields } of hits) {
        expect(level).toBe('info');
        expect(fields).toEqual({
          key: idempotencyKey,
          cachedRunId: run?.id,
          source,
          tenantId: 'acme',
          traceId,
        });
      }
    });

    test('counts the first request as a miss and a repetition as a hit', async () => {
      await send();
      await send();
      const { answers } = installation.metrics.countsOf('acme');
      const counted = answers.filter((one) => one.source === source);
      expect(counted).toContainEqual({ source, result: 'miss', count: 1 });
      expect(counted).toContainEqual({ source, result: 'hit', count: 1 });
    });
  },
);

test('a repeated mutation is logged with its run', async () => {
  await post('/v1/runs', { type: 'anything', input: {} }, 'k1');
  const [runId = ''] = installation.world.db.runs.keys();
  const cancel = () => post(`/v1/runs/${runId}/cancel`, {}, 'k2');
  expect([await cancel(), await cancel()]).toEqual([200, 200]);
  expect(linesOf('idempotency_hit')).toMatchObject([
    {
      fields: { key: 'api:c.ops:k2', cachedRunId: runId, source: 'api', tenantId: 'acme', traceId: TRACE },
    },
  ]);
});
