/** Requests whose worker dies between the change and the record of its response, repeated after a deployment. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { KeptResponse } from '../../../packages/cairn/src/operations/once-per-key.ts';
import { Installation } from '../installation.ts';

const DAY = 86_400_000;
/** Longer than another attempt may be in progress. */
const LOCK = 15 * 60_000;

const asking = defineWorkflow({
  type: 'asking',
  planVersion: 1,
  input: z.object({ label: z.string().default('') }),
  steps: (step) => ({
    agreed: step.approval('agree', { ask: () => 'Go on?' }),
    sent: step.event('sent', { event: 'sent', key: () => 'k' }),
    note: step.event('note', { event: 'note', key: () => 'k', heartbeat: { within: '1h' } }),
  }),
});

const another = (type: string, planVersion: number, input: z.ZodType<object>) =>
  defineWorkflow({ type, planVersion, input, steps: (step) => ({ one: step('one', () => 1) }) });

const LATER: Readonly<Record<string, readonly Workflow[]>> = {
  'the same workflows': [asking],
  'a next version that takes other inputs': [asking, another('asking', 2, z.object({ words: z.string() }))],
  'a changed version': [another('asking', 1, z.object({}))],
  'no such workflow': [another('another', 1, z.object({}))],
};

interface Subject {
  readonly run: string;
  readonly schedule: string;
}
type Sent = readonly [method: string, path: (of: Subject) => string, body?: object | undefined];

const onRun = (path: string, body: object): Sent => ['POST', ({ run }) => `/v1/runs/${run}/${path}`, body];
const onSchedule = (method: string, path: string, body?: object): Sent => [
  method,
  ({ schedule }) => `/v1/schedules/${schedule}${path}`,
  body,
];
const TIMING = { cron: '0 8 * * *', timezone: 'Europe/Berlin' };
const CHANGES: Readonly<Record<string, Sent>> = {
  'a new schedule': ['POST', () => '/v1/schedules', { type: 'asking', ...TIMING }],
  'a change of a schedule': onSchedule('PATCH', '', { input: { label: 'other' }, cron: '0 9 * * *' }),
  'a pause': onSchedule('POST', '/pause', { reason: 'holidays' }),
  'a trigger': onSchedule('POST', '/trigger'),
  'a backfill': onSchedule('POST', '/backfill', { from: '2026-01-01T00:00:00Z', to: '2026-01-03T00:00:00Z' }),
  'a deletion': onSchedule('DELETE', ''),
  'a cancel': onRun('cancel', { reason: 'closed' }),
  'a suspension': onRun('suspend', { reason: 'wait' }),
  'an approval': onRun('approvals/agree', { decision: 'approve' }),
  'a signal': onRun('signals', { name: 'sent', data: 1 }),
  'an early signal': onRun('signals', { name: 'later', data: 1 }),
  'a failed wait': onRun('waits/note/fail', { reason: 'nothing came' }),
  'an event': ['POST', () => '/v1/events', { event: 'sent', key: 'k', data: 1 }],
  'a hold': onRun('hold', { reason: 'lawsuit' }),
};

const cases = Object.keys(CHANGES).flatMap((change) =>
  Object.keys(LATER).map((later) => [change, later] as const),
);

test.each(cases)('%s whose response was lost is known to its repetition by %s', async (change, later) => {
  const installation = new Installation([asking]);
  const { world, apiDeps } = installation;
  const key = await installation.key('ops', { roles: ['admin'] });
  const send = async (
    api: typeof installation.api,
    method: string,
    path: string,
    body: object,
    name: string,
  ) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': name,
    };
    const answer = await api.request(path, { method, body: JSON.stringify(body), headers });
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
  };
  world.clock.jump(5 * DAY);
  const started = await send(installation.api, 'POST', '/v1/runs', { type: 'asking', input: {} }, 'r1');
  const run = String(started.body.runId);
  await world.run(() => world.db.runs.get(run)?.snapshot.status === 'awaiting_approval');
  const made = await send(installation.api, 'POST', '/v1/schedules', { type: 'asking', ...TIMING }, 's1');
  const subject: Subject = { run, schedule: String(made.body.id) };
  const [method, path, body = {}] = CHANGES[change] as Sent;

  const { replace } = world.records;
  let lost: KeptResponse | undefined;
  world.records.replace = (record, seen) => {
    if (record.status !== 'completed') return replace.call(world.records, record, seen);
    lost = record.response as KeptResponse;
    return Promise.reject(new CairnError('UNAVAILABLE', 'the worker died'));
  };
  expect(await send(installation.api, method, path(subject), body, 'k1')).toMatchObject({ status: 503 });
  world.records.replace = replace;
  world.clock.jump(LOCK);
  const { runs, schedules } = world.db;
  const before = { runs: runs.size, schedules: schedules.size };

  const api = createApi({ ...apiDeps, registry: new WorkflowRegistry(LATER[later] ?? []) });
  const again = await send(api, method, path(subject), body, 'k1');
  const named = ({ id, runId, scheduleId, deleted, slots }: Readonly<Record<string, unknown>>) =>
    change === 'a backfill' ? { scheduleId, slots } : { id, runId, scheduleId, deleted };
  expect({ status: again.status, ...named(again.body) }).toEqual({
    status: lost?.status,
    ...named(lost?.body as Readonly<Record<string, unknown>>),
  });
  expect({ runs: runs.size, schedules: schedules.size }).toEqual(before);
});
