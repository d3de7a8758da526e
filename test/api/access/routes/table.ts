/**
 * Every route of the API: its role, its status, and how it must isolate tenants. Written by
 * hand, apart from the routes: a route that is missing here, or admits other roles, fails the tests.
 *
 * Must not: read the roles from the routes.
 */
import type { OperationName } from '../../../../packages/cairn/src/api/openapi/paths/all.ts';
import type { Role } from '../../../../packages/cairn/src/ports/access/client-store.ts';

export type Route = OperationName;

/**
 * Tenant isolation of a route. `named`: its path names an object, which does not exist for other tenants. `own`: it
 * shows or changes objects of the caller's tenant, with the same result whatever other tenants have. `all`: it acts on the
 * whole installation, so its duration depends on that, but its answer concerns only the caller's tenant. `nobody's`: no
 * tenant is involved. `sums`: it returns figures about the whole installation, without tenants and runs.
 */
export type Reach = 'named' | 'own' | 'all' | 'sums' | "nobody's";

export interface Row {
  /** Lowest role; `open`: any caller, with or without a key. */
  readonly least: Role | 'open';
  /** Status for an authorised caller. */
  readonly status: number;
  readonly reach: Reach;
  readonly body?: object;
  /** Required parameters. */
  readonly query?: string;
  /** The owner's run for which the status applies. Default: one that asks a person. */
  readonly run?: RunKind;
  /** The request changes nothing although it is not a read: it only previews, or the requested state already exists. */
  readonly idle?: true;
}

/** Objects of the owner, one of each kind. */
export const RUN_KINDS = ['asking', 'driven', 'doubtful', 'failed', 'expecting'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

const viewer = (reach: Reach): Row => ({ least: 'viewer', status: 200, reach });
const admin = (reach: Reach, body?: object, status = 200): Row => ({
  least: 'admin',
  status,
  reach,
  ...(body ? { body } : {}),
});
const installation = (reach: Reach, body?: object, status = 200): Row => ({
  least: 'installation',
  status,
  reach,
  ...(body ? { body } : {}),
});
const operator = (reach: Reach, body: object = {}, status = 200): Row => ({
  least: 'operator',
  status,
  reach,
  body,
});
const submitter = (reach: Reach, body: object, status = 200): Row => ({
  least: 'submitter',
  status,
  reach,
  body,
});
const open: Row = { least: 'open', status: 200, reach: "nobody's" };

const RANGE = { from: '2025-12-31T00:00:00Z', to: '2025-12-31T02:00:00Z' };

export const TABLE: Readonly<Record<Route, Row>> = {
  'GET /v1/healthz': open,
  'GET /v1/openapi.json': open,
  'GET /v1/docs': open,
  'GET /v1/me': viewer('own'),
  'GET /v1/metrics': admin('own'),
  'GET /v1/diagnosis': installation('sums'),
  'GET /v1/workflows': viewer('own'),
  'GET /v1/workflows/{type}/input': viewer('own'),
  'POST /v1/workflows/{type}/pause': installation('all', { reason: 'a look' }),
  'POST /v1/workflows/{type}/unpause': { ...installation('all', {}), idle: true },
  'GET /v1/runtime': installation('own'),
  'PUT /v1/runtime': { ...installation('all', { killSwitch: false }), idle: true },
  'GET /v1/restore': installation('own'),
  'POST /v1/restore/begin': installation('all', {}),
  'POST /v1/restore/release': { ...installation('all', {}), idle: true },
  'GET /v1/clients': admin('own'),
  'POST /v1/clients': admin('own', { name: 'CI', role: 'viewer' }, 201),
  'POST /v1/clients/{id}/rotate': admin('named', {}),
  'POST /v1/clients/{id}/revoke': admin('named', {}),
  'GET /v1/idempotency/{key}': viewer('named'),
  'GET /v1/runs': viewer('own'),
  'POST /v1/runs': submitter('own', { type: 'echo', input: { text: 'hello' } }, 201),
  'GET /v1/runs/stream': viewer('own'),
  'POST /v1/runs/bulk': {
    ...operator('own', { act: 'cancel', runs: [`run_${'a'.repeat(26)}`] }),
    idle: true,
  },
  'GET /v1/inbox': viewer('own'),
  'GET /v1/runs/counts': viewer('own'),
  'GET /v1/runs/statistics': viewer('own'),
  'GET /v1/budgets/today': viewer('own'),
  'GET /v1/search': { ...viewer('own'), query: 'q=anything' },
  'GET /v1/runs/{id}': viewer('named'),
  'GET /v1/runs/{id}/consistency': { least: 'operator', status: 200, reach: 'named' },
  'POST /v1/runs/{id}/repair': { ...operator('named', {}), idle: true },
  'GET /v1/retention': admin('all'),
  'GET /v1/runs/{id}/retention': viewer('named'),
  'POST /v1/runs/{id}/erase': { ...admin('named', { confirm: 'its id' }, 202), run: 'failed' },
  'GET /v1/erasures': admin('sums'),
  'POST /v1/erasures': installation('all', { tenantId: 'nobody', confirm: 'nobody' }, 202),
  'GET /v1/erasures/{id}': admin('named'),
  'POST /v1/runs/{id}/hold': admin('named', { reason: 'a dispute' }),
  'POST /v1/runs/{id}/release-hold': { ...admin('named', {}), idle: true },
  'POST /v1/runs/{id}/cancel': operator('named', { reason: 'enough' }),
  'POST /v1/runs/{id}/suspend': operator('named', { reason: 'to look first' }),
  'POST /v1/runs/{id}/continue': { ...operator('named', {}), idle: true },
  'POST /v1/runs/{id}/resume': { ...operator('named', {}, 201), run: 'failed' },
  'POST /v1/runs/{id}/replay': { ...operator('named', {}, 201), run: 'failed' },
  'POST /v1/runs/{id}/fork': { ...operator('named', {}, 201), run: 'failed' },
  'POST /v1/runs/{id}/preview': { ...operator('named', { mode: 'resume' }), run: 'failed', idle: true },
  'POST /v1/runs/{id}/signals': submitter('named', { name: 'anything' }),
  'POST /v1/runs/{id}/approvals/{stepId}': operator('named', { decision: 'approve' }),
  'GET /v1/runs/{id}/effects': viewer('named'),
  'POST /v1/runs/{id}/effects/{effectId}/resolve': {
    ...operator('named', { outcome: 're-execute' }),
    run: 'doubtful',
  },
  'GET /v1/runs/{id}/stream': viewer('named'),
  'GET /v1/runs/{id}/events': viewer('named'),
  'GET /v1/runs/{id}/graph': viewer('named'),
  'GET /v1/runs/{id}/steps': viewer('named'),
  'GET /v1/runs/{id}/memos': { ...viewer('named'), query: 'step=say' },
  'GET /v1/runs/{id}/logs': viewer('named'),
  'GET /v1/runs/{id}/logs/stream': viewer('named'),
  'GET /v1/runs/{id}/checkpoints': viewer('named'),
  'GET /v1/runs/{id}/checkpoints/{seq}/output': viewer('named'),
  'POST /v1/runs/{id}/waits/{stepId}/fail': {
    ...submitter('named', { reason: 'lost' }),
    run: 'expecting',
  },
  'POST /v1/runs/{id}/waits/{stepId}/heartbeat': {
    ...submitter('named', {}),
    run: 'expecting',
  },
  'POST /v1/events': submitter('own', { event: 'built', key: 'main', data: { build: 7 } }),
  'GET /v1/schedules': viewer('own'),
  'POST /v1/schedules': operator('own', { type: 'echo', cron: '0 * * * *', input: { text: 'x' } }, 201),
  'GET /v1/schedules/{id}': viewer('named'),
  'PATCH /v1/schedules/{id}': operator('named', { name: 'renamed' }),
  'DELETE /v1/schedules/{id}': operator('named'),
  'POST /v1/schedules/{id}/pause': operator('named'),
  'POST /v1/schedules/{id}/resume': { ...operator('named'), idle: true },
  'POST /v1/schedules/{id}/trigger': operator('named', {}, 201),
  'POST /v1/schedules/{id}/backfill': operator('named', RANGE),
};

export const ROUTES = Object.keys(TABLE) as readonly Route[];

export function methodOf(route: Route): string {
  return route.slice(0, route.indexOf(' '));
}

/** The URL of a route, with its path parameters and required query parameters. */
export function pathOf(route: Route, values: Readonly<Record<string, string>>): string {
  const path = route
    .slice(route.indexOf(' ') + 1)
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? name));
  const { query } = TABLE[route];
  return query === undefined ? path : `${path}?${query}`;
}
