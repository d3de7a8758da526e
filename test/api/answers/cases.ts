/**
 * The requests with which each route is tested, and the status and code of each answer. First those that all routes have in
 * common, from their rows in the table of routes; then those of single routes.
 */
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import type { ApiDeps } from '../../../packages/cairn/src/api/deps.ts';
import type { IdempotencyRecord } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import { requestHash } from '../../../packages/cairn/src/core/encoding/fingerprint.ts';
import type { ErrorCode } from '../../../packages/cairn/src/core/errors.ts';
import { UnreadableText } from '../../../packages/cairn/src/core/run/readable.ts';
import { MAX_HEADER_BYTES, MAX_URL_CHARS } from '../../../packages/cairn/src/http/head-limits.ts';
import {
  OutcomeUnknown,
  StoreRefused,
  UndecodableDocument,
} from '../../../packages/cairn/src/ports/store-errors.ts';
import { confirmed, erasureOf } from '../access/routes/erasing.ts';
import { methodOf, pathOf, ROUTES, type Route, TABLE } from '../access/routes/table.ts';
import { type Stage, TENANT } from '../fuzz/stage.ts';
import { document } from '../openapi/checked.ts';

const HOUR_MS = 3_600_000;
/** Idempotency records that simulate earlier requests of the admin. */
const KEY = 'known-key';

export interface Asking {
  readonly as?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Case {
  readonly route: Route;
  readonly because: string;
  readonly status: number;
  readonly code?: ErrorCode;
  ask(stage: Stage): Asking;
  /** Performed before the request. */
  readonly before?: (stage: Stage) => Promise<unknown>;
  /** Replaces the installation. */
  readonly around?: (deps: ApiDeps) => ApiDeps;
}

/** Parameter values with which a request of the route succeeds. */
export function valuesOf(route: Route, { named }: Stage): Readonly<Record<string, string>> {
  const of = (part: string) => route.includes(part);
  if (of('/v1/runs/{id}/effects')) return { id: named.acting, effectId: named.effectId };
  if (of('/v1/runs/{id}/approvals')) return { id: named.asking, stepId: 'gate' };
  if (of('/v1/runs/{id}/waits')) return { id: named.waiting, stepId: 'any' };
  if (of('/v1/runs/{id}/checkpoints')) return { id: named.ended, seq: '4' };
  if (of('/v1/runs/{id}') && methodOf(route) === 'GET') return { id: named.ended };
  if (/\/(?:resume|replay|fork|preview)$/.test(route) && of('/v1/runs/')) return { id: named.failed };
  if (of('/erase')) return { id: named.failed };
  if (of('/v1/runs/{id}')) return { id: named.pending };
  if (of('/v1/schedules/{id}')) return { id: named.schedule };
  if (of('/v1/erasures/{id}')) return { id: erasureOf(TENANT).id };
  if (of('/v1/clients/{id}')) return { id: 'submitter' };
  return { type: 'echo', key: 'processing' };
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** A valid request by the table of routes, with the given changes. */
function usual(route: Route, stage: Stage, other: Partial<Asking> & { more?: string } = {}): Asking {
  const body = confirmed(TABLE[route].body, valuesOf(route, stage));
  const { more = '', headers, ...rest } = other;
  return {
    as: 'admin',
    path: withMore(pathOf(route, valuesOf(route, stage)), more),
    ...(body ? { body: JSON.stringify(body) } : {}),
    headers: { ...(body ? JSON_TYPE : {}), ...headers },
    ...rest,
  };
}

/** @param more a query, beginning with its question mark */
function withMore(path: string, more: string): string {
  return path.includes('?') ? path + more.replace('?', '&') : path + more;
}

/** The record of the same request, or of another one, by the admin. */
function recordOf(stage: Stage, route: Route, record: Partial<IdempotencyRecord>): Promise<unknown> {
  const { world } = stage.installation;
  const now = world.clock.now();
  const { path, body = '{}' } = usual(route, stage);
  return world.records.create({
    key: `api:c.admin:${KEY}`,
    source: 'api',
    tenantId: TENANT,
    status: 'processing',
    requestHash: requestHash(`${methodOf(route)} ${path}`, JSON.parse(body)),
    createdAt: now,
    updatedAt: now,
    expiresAt: now + HOUR_MS,
    attempts: 1,
    ...record,
  });
}

const keyed = { headers: { 'idempotency-key': KEY } };
const failing = (error: Error) => (deps: ApiDeps) => ({
  ...deps,
  clients: { read: () => Promise.reject(error) },
});
const slow = (deps: ApiDeps) => ({ ...deps, rateLimit: { perSecond: 0.001, burst: 0 } });
const LOST = new OutcomeUnknown('read', new Error('connection lost'));
const REFUSED = new StoreRefused('commit', new Error('a document above 1 MiB'), {
  code: 3,
  reason: 'request',
});

type Common = readonly [
  because: string,
  status: number,
  code: ErrorCode | undefined,
  how: Partial<Case>,
  other?: Partial<Asking> & { more?: string },
];

/** Cases for every route. */
const OF_ALL: readonly Common[] = [
  ['a query that is too long', 414, 'URI_TOO_LONG', {}, { more: `?${'x'.repeat(MAX_URL_CHARS)}` }],
  [
    'a header that is too large',
    431,
    'HEADERS_TOO_LARGE',
    {},
    { headers: { cookie: 'x'.repeat(MAX_HEADER_BYTES) } },
  ],
];

/** Cases for every route with authentication. */
const OF_CALLERS: readonly Common[] = [
  ['a stranger', 401, 'UNAUTHENTICATED', {}, { as: 'none' }],
  ['a wrong key', 401, 'UNAUTHENTICATED', {}, { as: 'wrong' }],
  ['a revoked key', 401, 'UNAUTHENTICATED', {}, { as: 'disabled' }],
  ['an account of no tenant', 403, 'FORBIDDEN', {}, { as: 'user.of.nobody' }],
  ['a parameter that there is not', 400, 'INVALID_INPUT', {}, { more: '?nothing=1' }],
  ['too many requests', 429, 'RATE_LIMITED', { around: slow }],
  ['a store that does not answer', 503, 'UNAVAILABLE', { around: failing(LOST) }],
  ['a store that refuses', 500, 'STORE_REFUSED', { around: failing(REFUSED) }],
  [
    'a damaged document',
    500,
    'DATA_DAMAGED',
    { around: failing(new UndecodableDocument("run run_1: member 'steps': expected text")) },
  ],
  [
    'a damaged value',
    500,
    'DATA_DAMAGED',
    { around: failing(new UnreadableText('a stored value is not JSON')) },
  ],
  ['a fault of ours', 500, 'INTERNAL', { around: failing(new Error('a secret detail')) }],
];

/** Cases for every route with a body. */
const OF_BODIES: readonly Common[] = [
  ['a body that is not JSON', 400, 'INVALID_INPUT', {}, { body: '{"a":', headers: JSON_TYPE }],
  ['a member that there is not', 400, 'INVALID_INPUT', {}, { body: '{"tenantId":"x"}', headers: JSON_TYPE }],
  ['a body that is no object', 400, 'INVALID_INPUT', {}, { body: '[]', headers: JSON_TYPE }],
  ['a body nested too deep', 400, 'INVALID_INPUT', {}, { body: '[{"a":'.repeat(51), headers: JSON_TYPE }],
  ['an empty key', 400, 'INVALID_INPUT', {}, { headers: { 'idempotency-key': '""' } }],
  ['an overlong key', 400, 'INVALID_INPUT', {}, { headers: { 'idempotency-key': 'k'.repeat(256) } }],
  ['a body that is too large', 413, 'PAYLOAD_TOO_LARGE', {}, { headers: { 'content-length': '99999999' } }],
  [
    'another content type',
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    {},
    { body: '{}', headers: { 'content-type': 'text/plain' } },
  ],
];

/** Cases for the key of a mutation, by its record. */
const OF_KEYS: readonly (readonly [string, number, ErrorCode | undefined, Partial<IdempotencyRecord>])[] = [
  ['a key under which it is done elsewhere', 202, undefined, { lockExpiresAt: Number.MAX_SAFE_INTEGER }],
  ['a key of another request', 422, 'IDEMPOTENCY_KEY_REUSED', { requestHash: 'of another' }],
  ['a key of another tenant', 422, 'IDEMPOTENCY_KEY_REUSED', { tenantId: 'others' }],
  ['a key under which it failed for good', 409, 'IDEMPOTENCY_CONFLICT', { status: 'failed', attempts: 3 }],
];

function commonOf(route: Route): Case[] {
  const { least, status } = TABLE[route];
  const isOpen = least === 'open';
  const { hasBody, takesKey } = shapeOf(route);
  const below = (['viewer', 'submitter', 'operator'] as const).findLast(
    (role) => ranked(role) < ranked(least),
  );
  const rows: Common[] = [
    ['a well-made request', status, undefined, {}],
    ...OF_ALL,
    ...(isOpen ? [] : OF_CALLERS),
    ...(hasBody ? OF_BODIES : []),
    ...(below === undefined ? [] : [['a role below', 403, 'FORBIDDEN', {}, { as: below }] as Common]),
    ...(takesKey ? [['a new key', status, undefined, {}, keyed] as Common] : []),
  ];
  const cases = rows.map(
    ([because, expected, code, how, other]): Case => ({
      route,
      because,
      status: expected,
      ...(code === undefined ? {} : { code }),
      ask: (stage) => usual(route, stage, other),
      ...how,
    }),
  );
  const ofKeys = OF_KEYS.map(
    ([because, expected, code, record]): Case => ({
      route,
      because,
      status: expected,
      ...(code === undefined ? {} : { code }),
      ask: (stage) => usual(route, stage, keyed),
      before: (stage) => recordOf(stage, route, record),
    }),
  );
  return takesKey ? [...cases, ...ofKeys] : cases;
}

/** As the document describes it. */
function shapeOf(route: Route): { readonly hasBody: boolean; readonly takesKey: boolean } {
  const [method = '', path = ''] = route.split(' ');
  const operation = document.paths[path]?.[method.toLowerCase()];
  const parameters = (operation?.parameters ?? []) as readonly { readonly name: string }[];
  const names = parameters.map(({ name }) => name);
  return { hasBody: operation?.requestBody !== undefined, takesKey: names.includes('Idempotency-Key') };
}

function ranked(role: string): number {
  return ['open', 'viewer', 'submitter', 'operator', 'admin', 'installation'].indexOf(role);
}

export const COMMON: readonly Case[] = ROUTES.flatMap(commonOf);

/** A valid request by the table of routes, with an idempotency key. */
export function usualOf(route: Route, stage: Stage, key: string, body?: object): Asking {
  const keyedRequest = usual(route, stage, { headers: { 'idempotency-key': key } });
  return body ? { ...keyedRequest, body: JSON.stringify(body) } : keyedRequest;
}

/** A request to erase repeats the id. */
function confirming(route: Route, values: Readonly<Record<string, string>>): Partial<Asking> {
  const { body } = TABLE[route];
  return body && 'confirm' in body ? { body: JSON.stringify(confirmed(body, values)) } : {};
}

/** A request to a route with parameters of its own. */
export function to(
  route: Route,
  values: (stage: Stage) => Readonly<Record<string, string>>,
  body?: object,
): (stage: Stage) => Asking {
  return (stage) =>
    usual(route, stage, {
      path: pathOf(route, { ...valuesOf(route, stage), ...values(stage) }),
      ...confirming(route, values(stage)),
      ...(body ? { body: JSON.stringify(body), headers: JSON_TYPE } : {}),
    });
}

export async function send(
  stage: Stage,
  route: Route,
  asking: Asking,
  around?: Case['around'],
): Promise<Response> {
  const { as = 'admin', path, headers, body } = asking;
  const authorization = stage.credentials[as]?.value;
  const api = around ? createApi(around(stage.apiDeps)) : stage.api;
  return api.request(path, {
    method: methodOf(route),
    headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
    ...(body === undefined ? {} : { body }),
  });
}
