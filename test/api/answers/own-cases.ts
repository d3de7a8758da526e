/** Answers of single routes in addition to those of all routes, and the requests that get them. */
import type { ApiDeps } from '../../../packages/cairn/src/api/deps.ts';
import type { ErrorCode } from '../../../packages/cairn/src/core/errors.ts';
import type { FoundDocument } from '../../../packages/cairn/src/core/integrity/found.ts';
import type { StepRecord } from '../../../packages/cairn/src/core/run/records.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { RunReader } from '../../../packages/cairn/src/ports/runs/integrity-store.ts';
import type { Route } from '../access/routes/table.ts';
import type { Stage } from '../fuzz/stage.ts';
import { echo } from '../installation.ts';
import { type Case, send, to, usualOf } from './cases.ts';

const HOUR_MS = 3_600_000;
const NO_RUN = `run_${'a'.repeat(26)}`;
const LATER = (stage: Stage) => stage.installation.world.clock.jump(2 * HOUR_MS);
/** Only one workflow is still deployed. */
const bare = (deps: ApiDeps): ApiDeps => ({ ...deps, registry: new WorkflowRegistry([echo]) });
const unreachable = (deps: ApiDeps): ApiDeps => ({
  ...deps,
  clients: { read: () => Promise.reject(new Error('unreachable')) },
});

/** The pages of steps never end. */
const endless = (deps: ApiDeps): ApiDeps => ({
  ...deps,
  integrity: Object.assign(Object.create(deps.integrity), {
    atOneMoment: <T>(runId: string, look: (reader: RunReader) => Promise<T>) =>
      deps.integrity.atOneMoment(runId, (reader) =>
        look({ ...reader, steps: async ({ limit }) => pageOf(limit) }),
      ),
  }),
});
const STEP: FoundDocument<StepRecord> = {
  id: 'step',
  version: 'v',
  kind: 'unreadable',
  reason: 'one of many',
};
const pageOf = (limit: number) => Array.from({ length: limit }, () => STEP);

const CANCEL = 'POST /v1/runs/{id}/cancel';
const SIGNAL = 'POST /v1/runs/{id}/signals';
const DECIDE = 'POST /v1/runs/{id}/approvals/{stepId}';
const RESOLVE = 'POST /v1/runs/{id}/effects/{effectId}/resolve';
const SUCCESSORS = [
  'POST /v1/runs/{id}/resume',
  'POST /v1/runs/{id}/replay',
  'POST /v1/runs/{id}/fork',
] as const;
const OUTPUT = 'GET /v1/runs/{id}/checkpoints/{seq}/output';
const RECORD = 'GET /v1/idempotency/{key}';
const PATCH = 'PATCH /v1/schedules/{id}';
const DELETE = 'DELETE /v1/schedules/{id}';
const BACKFILL = 'POST /v1/schedules/{id}/backfill';

type Row = readonly [
  route: Route,
  because: string,
  status: number,
  code: ErrorCode | undefined,
  ask: Case['ask'],
  more?: Pick<Case, 'before' | 'around'>,
];

const first = (route: Route, ask: Case['ask']) => ({
  before: (stage: Stage) => send(stage, route, ask(stage)),
});
const ended = (stage: Stage) => ({ id: stage.named.ended });
const asking = (stage: Stage) => ({ id: stage.named.asking });
const acting = (stage: Stage) => ({ id: stage.named.acting });
const none = () => ({});
const reject = to(DECIDE, none, { decision: 'reject' });
const repeated = (route: Route, status: number, body?: object): Row => [
  route,
  'the same key again',
  status,
  undefined,
  (stage) => usualOf(route, stage, 'again', body),
  { before: (stage) => send(stage, route, usualOf(route, stage, 'again', body)) },
];

const ROWS: readonly Row[] = [
  [
    'GET /v1/healthz',
    'a store that cannot be reached',
    503,
    undefined,
    to('GET /v1/healthz', none),
    { around: unreachable },
  ],
  repeated('POST /v1/runs', 200),
  [
    'POST /v1/runs',
    'a workflow that does not exist',
    400,
    'INVALID_INPUT',
    to('POST /v1/runs', none, { type: 'gone', input: {} }),
  ],
  [
    'POST /v1/runs',
    'an input that its workflow refuses',
    400,
    'INVALID_INPUT',
    to('POST /v1/runs', none, { type: 'echo', input: { text: 1 } }),
  ],
  [CANCEL, 'a run that has ended', 409, 'RUN_TERMINAL_STATE', to(CANCEL, ended)],
  [SIGNAL, 'a run that has ended', 409, 'RUN_TERMINAL_STATE', to(SIGNAL, ended)],
  [
    SIGNAL,
    'a run of a version that is not deployed',
    409,
    'PLAN_VERSION_UNAVAILABLE',
    to(SIGNAL, ({ named }) => ({ id: named.waiting }), { name: 'built', data: {} }),
    { around: bare },
  ],
  [
    SIGNAL,
    'data that the waiting step refuses, or that is too large for the buffer',
    413,
    'PAYLOAD_TOO_LARGE',
    to(SIGNAL, none, { name: 'early', data: 'x'.repeat(20_000) }),
  ],
  [DECIDE, 'a step that there is not', 404, 'NOT_FOUND', to(DECIDE, () => ({ stepId: 'nowhere' }))],
  [DECIDE, 'a step that asks nothing yet', 404, 'NOT_FOUND', to(DECIDE, () => ({ stepId: 'lone' }))],
  [
    DECIDE,
    'a run that has ended',
    409,
    'RUN_TERMINAL_STATE',
    to(DECIDE, (stage) => ({ ...ended(stage), stepId: 'say' })),
  ],
  [
    DECIDE,
    'a step that waits for an event',
    409,
    'RUN_INVALID_TRANSITION',
    to(DECIDE, ({ named }) => ({ id: named.waiting, stepId: 'any' })),
  ],
  [DECIDE, 'another decision', 409, 'APPROVAL_DECIDED', reject, first(DECIDE, to(DECIDE, none))],
  [
    DECIDE,
    'a decision after the deadline',
    410,
    'APPROVAL_EXPIRED',
    to(DECIDE, none),
    { before: async (stage) => LATER(stage) },
  ],
  [
    DECIDE,
    'a run of a version that is not deployed',
    409,
    'PLAN_VERSION_UNAVAILABLE',
    to(DECIDE, none),
    { around: bare },
  ],
  [
    DECIDE,
    'a waiver without a reason',
    400,
    'INVALID_INPUT',
    to(DECIDE, none, { decision: 'approve_with_waiver' }),
  ],
  [
    DECIDE,
    'a note that is too long',
    413,
    'PAYLOAD_TOO_LARGE',
    to(DECIDE, none, { decision: 'approve', note: 'x'.repeat(9_000) }),
  ],
  [
    DECIDE,
    'a step that asks about an effect',
    409,
    'EFFECT_IN_DOUBT',
    to(DECIDE, (stage) => ({ ...acting(stage), stepId: 'send' })),
  ],
  ...SUCCESSORS.flatMap((route): Row[] => [
    repeated(route, 200),
    [route, 'a run that has not ended', 409, 'RUN_INVALID_TRANSITION', to(route, asking)],
    [
      route,
      'a run of a version that is not deployed',
      409,
      'PLAN_VERSION_UNAVAILABLE',
      to(route, none),
      { around: bare },
    ],
  ]),
  [
    'POST /v1/runs/{id}/resume',
    'a run that is completed',
    409,
    'RUN_TERMINAL_STATE',
    to('POST /v1/runs/{id}/resume', ended),
  ],
  [
    'POST /v1/runs/{id}/resume',
    'a run that was resumed before',
    409,
    'RUN_TERMINAL_STATE',
    to('POST /v1/runs/{id}/resume', none),
    first('POST /v1/runs/{id}/resume', to('POST /v1/runs/{id}/resume', none)),
  ],
  [
    'POST /v1/runs/{id}/preview',
    'a run that has not ended',
    200,
    undefined,
    to('POST /v1/runs/{id}/preview', asking),
  ],
  [RESOLVE, 'an effect that there is not', 404, 'NOT_FOUND', to(RESOLVE, () => ({ effectId: 'nothing' }))],
  [RESOLVE, 'an effect of another run', 404, 'NOT_FOUND', to(RESOLVE, asking)],
  [
    RESOLVE,
    'another answer',
    409,
    'EFFECT_RESOLVED',
    to(RESOLVE, none, { outcome: 'failed' }),
    first(RESOLVE, to(RESOLVE, none)),
  ],
  [
    RESOLVE,
    'a run that is being undone',
    409,
    'RUN_INVALID_TRANSITION',
    to(RESOLVE, none),
    first(CANCEL, to(CANCEL, acting)),
  ],
  [RESOLVE, 'a run that is cancelled', 409, 'RUN_TERMINAL_STATE', to(RESOLVE, none), { before: cancelled }],
  [
    RESOLVE,
    'a run of a version that is not deployed',
    409,
    'PLAN_VERSION_UNAVAILABLE',
    to(RESOLVE, none, { outcome: 'failed' }),
    { around: bare },
  ],
  [OUTPUT, 'a checkpoint that there is not', 404, 'NOT_FOUND', to(OUTPUT, () => ({ seq: '99' }))],
  [OUTPUT, 'what is no number', 404, 'NOT_FOUND', to(OUTPUT, () => ({ seq: '../1' }))],
  [RECORD, 'a key that nobody used', 404, 'NOT_FOUND', to(RECORD, () => ({ key: 'unknown' }))],
  [RECORD, 'a key of long ago', 410, 'IDEMPOTENCY_EXPIRED', to(RECORD, () => ({ key: 'expired' }))],
  [RECORD, 'what can be no key', 400, 'INVALID_INPUT', to(RECORD, () => ({ key: 'ü' }))],
  [
    'POST /v1/schedules',
    'a workflow that does not exist',
    404,
    'NOT_FOUND',
    to('POST /v1/schedules', none, { type: 'gone', cron: '0 * * * *' }),
  ],
  [
    'POST /v1/schedules',
    'an invalid cron expression',
    400,
    'INVALID_INPUT',
    to('POST /v1/schedules', none, { type: 'echo', cron: 'daily' }),
  ],
  [
    PATCH,
    'a schedule that is declared',
    409,
    'SCHEDULE_DECLARED',
    to(PATCH, ({ named }) => ({ id: named.declared }), { cron: '0 1 * * *' }),
  ],
  [
    DELETE,
    'a schedule that is declared',
    409,
    'SCHEDULE_DECLARED',
    to(DELETE, ({ named }) => ({ id: named.declared })),
  ],
  ...(['pause', 'resume'] as const).map(
    (verb): Row => [
      `POST /v1/schedules/{id}/${verb}`,
      'a schedule that is no longer declared',
      409,
      'SCHEDULE_DECLARED',
      to(`POST /v1/schedules/{id}/${verb}`, ({ named }) => ({ id: named.declared })),
      { before: withdrawn, around: bare },
    ],
  ),
  [
    BACKFILL,
    'a range in the future',
    400,
    'INVALID_INPUT',
    to(BACKFILL, none, { from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z' }),
  ],
  [
    BACKFILL,
    'more slots than fit',
    400,
    'INVALID_INPUT',
    to(BACKFILL, none, { from: '2024-01-01T00:00:00Z', to: '2025-12-31T00:00:00Z' }),
  ],
  [
    'POST /v1/clients/{id}/revoke',
    'oneself',
    403,
    'FORBIDDEN',
    to('POST /v1/clients/{id}/revoke', () => ({ id: 'admin' })),
  ],
  ...(['/v1/openapi.json', '/v1/docs'] as const).map(
    (path): Row => [
      `GET ${path}`,
      'an unknown parameter',
      400,
      'INVALID_INPUT',
      (stage) => ({ ...to(`GET ${path}`, none)(stage), path: `${path}?x=1` }),
    ],
  ),
  [
    'GET /v1/runs/{id}/consistency',
    'a run that is too long for a check',
    413,
    'PAYLOAD_TOO_LARGE',
    to('GET /v1/runs/{id}/consistency', ended),
    { around: endless },
  ],
  ...notThere('RUN_NOT_FOUND', NO_RUN, [
    'GET /v1/runs/{id}',
    'GET /v1/runs/{id}/events',
    'GET /v1/runs/{id}/graph',
    'GET /v1/runs/{id}/steps',
    'GET /v1/runs/{id}/checkpoints',
    'GET /v1/runs/{id}/logs',
    'GET /v1/runs/{id}/logs/stream',
    'GET /v1/runs/{id}/effects',
    'GET /v1/runs/{id}/consistency',
    'POST /v1/runs/{id}/repair',
    'GET /v1/runs/{id}/retention',
    'POST /v1/runs/{id}/hold',
    'POST /v1/runs/{id}/erase',
    'POST /v1/runs/{id}/release-hold',
    'GET /v1/runs/{id}/stream',
    OUTPUT,
    CANCEL,
    SIGNAL,
    DECIDE,
    RESOLVE,
    ...SUCCESSORS,
    'POST /v1/runs/{id}/preview',
  ]),
  ...notThere('NOT_FOUND', `sch_${'0'.repeat(32)}`, [
    'GET /v1/schedules/{id}',
    PATCH,
    DELETE,
    BACKFILL,
    'POST /v1/schedules/{id}/pause',
    'POST /v1/schedules/{id}/resume',
    'POST /v1/schedules/{id}/trigger',
  ]),
  [
    'POST /v1/runs/{id}/erase',
    'a run that has not ended',
    409,
    'RUN_INVALID_TRANSITION',
    to('POST /v1/runs/{id}/erase', ({ named }) => ({ id: named.pending })),
  ],
  ...notThere('NOT_FOUND', 'nobody', ['GET /v1/erasures/{id}']),
  ...notThere('NOT_FOUND', 'nobody', ['POST /v1/clients/{id}/rotate', 'POST /v1/clients/{id}/revoke']),
  ...notThere(
    'NOT_FOUND',
    'gone',
    [
      'POST /v1/workflows/{type}/pause',
      'POST /v1/workflows/{type}/unpause',
      'GET /v1/workflows/{type}/input',
    ],
    'type',
  ),
];

function notThere(code: ErrorCode, id: string, routes: readonly Route[], member = 'id'): Row[] {
  return routes.map((route) => [route, 'what is not there', 404, code, to(route, () => ({ [member]: id }))]);
}

/** The run that asks about an effect, after it was cancelled and undone. */
async function cancelled(stage: Stage): Promise<void> {
  const { world } = stage.installation;
  await send(stage, CANCEL, to(CANCEL, acting)(stage));
  await world.run(() => world.stateOf(stage.named.acting).status === 'cancelled');
}

/** The document of a declared schedule without its workflow, as a tick leaves it. */
async function withdrawn({ installation, named }: Stage): Promise<void> {
  const { schedules } = installation.world;
  const found = await schedules.read(named.declared);
  if (!found) throw new Error('the schedule is gone');
  const { nextAt: _, ...rest } = found.schedule;
  await schedules.write({ ...rest, state: 'withdrawn' }, found.version);
}

export const OWN: readonly Case[] = ROWS.map(([route, because, status, code, ask, more]) => ({
  route,
  because,
  status,
  ...(code === undefined ? {} : { code }),
  ask,
  ...more,
}));
