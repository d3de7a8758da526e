/**
 * Common parts of all mutations except starts: a strict body, an optional idempotency key, and a response that is
 * repeated byte for byte.
 *
 * Must not: know what a mutation does.
 */
import type { z } from 'zod';
import { decideExisting, type ExistingDecision } from '../core/decisions/idempotency.ts';
import { requestHash } from '../core/encoding/fingerprint.ts';
import { sha256Hex } from '../core/encoding/hash.ts';
import { apiKey, readApiIdempotencyHeader } from '../core/encoding/idempotency-keys.ts';
import { canonicalJson, type Json } from '../core/encoding/json.ts';
import { CairnError, type ErrorCode } from '../core/errors.ts';
import { firstIssue } from '../core/first-issue.ts';
import type { Trigger } from '../core/run/events.ts';
import { decode, type JsonObject, mediaType, NAMELESS_HELP, parseObject, readBytes } from '../http/body.ts';
import { jsonResponse, TextResponse } from '../http/buffered.ts';
import { clientOf, contextOf, type RequestContext } from '../http/caller-context.ts';
import { RETRY_AFTER_S } from '../http/problem.ts';
import { sendUntilKnown } from '../journal/send-until-known.ts';
import {
  type KeptResponse,
  type KeyedRequest,
  type OnceResult,
  oncePerKey,
  type Progress,
} from '../operations/once-per-key.ts';
import type { Caller } from './auth.ts';
import type { ApiDeps } from './deps.ts';
import type { SentQuery } from './query.ts';

const NO_PROGRESS: Progress = { before: undefined, keep: () => Promise.resolve() };
/** 128 bits make a collision impossible in practice. */
const REQUEST_ID_DIGITS = 32;

/** A change request. Everything except its subject is checked. */
export interface Mutation<Body> extends RequestContext {
  readonly key: string | undefined;
  readonly body: Body;
  /** Hash of method, path, query and body, which a repetition must match. */
  readonly requestHash: string;
  readonly client: Trigger['source'];
}

interface Expected<Body> {
  readonly schema: z.ZodType<Body>;
  readonly maxBytes: number;
  /** Parameters of the request; part of its hash. */
  readonly query: SentQuery;
  /** Names of the parameters that the route takes. */
  readonly known: readonly string[];
}

/**
 * Reads the request; a missing body means an empty object.
 *
 * @throws CairnError INVALID_INPUT, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export async function readMutation<Body>(
  request: Request,
  { schema, maxBytes, query, known }: Expected<Body>,
): Promise<Mutation<Body>> {
  const key = readApiIdempotencyHeader((name) => request.headers.get(name) ?? undefined);
  const sent = await readBody(request, maxBytes);
  const call = known.map((name) => (query[name] === undefined ? '' : `?${name}=${query[name]}`)).join('');
  const route = `${request.method} ${new URL(request.url).pathname}${call}`;
  return {
    key,
    body: checked(schema, sent),
    requestHash: requestHash(route, sent),
    ...contextOf(request.headers),
    client: clientOf(request.headers),
  };
}

/** The part of a request that identifies it by its key. */
export type RequestByKey = Pick<Mutation<unknown>, 'key' | 'requestHash' | 'trace'> & {
  readonly deps: ApiDeps;
  readonly caller: Caller;
};

/**
 * Performs `work` once per key of this caller, or directly if there is no key. The argument of `work` identifies the
 * request, so that a second attempt is recognised; without a key, no progress is kept.
 */
export async function answerOnce(
  { deps, caller, key, requestHash: hash, trace }: RequestByKey,
  work: (requestId: string, progress: Progress) => Promise<KeptResponse>,
  locationOf?: LocationOf,
): Promise<Response> {
  const answer = (outcome: OnceResult) => answerFor(outcome, locationOf);
  if (key === undefined)
    return answer({ kind: 'done', response: await work(deps.random.token(), NO_PROGRESS) });
  const request: KeyedRequest = {
    key: apiKey(caller.principal, key),
    source: 'api',
    tenantId: caller.tenantId,
    requestHash: hash,
    traceId: trace?.traceId,
  };
  const idOf = (begunAt: number) => sha256Hex(`${begunAt}:${request.key}`).slice(0, REQUEST_ID_DIGITS);
  return answer(await oncePerKey(deps, request, (begunAt, progress) => work(idOf(begunAt), progress)));
}

const LATER_REFUSALS: ReadonlySet<string> = new Set<ErrorCode>([
  'INVALID_INPUT',
  'NOT_FOUND',
  'RUN_NOT_FOUND',
]);

/** Decisions for which the record is not of a repetition: it belongs to another request, or has expired. */
const NOT_A_REPETITION: ReadonlySet<ExistingDecision['kind']> = new Set<ExistingDecision['kind']>([
  'foreign_tenant',
  'expired',
  'conflict',
]);

/**
 * Checks a request before it is recorded. A repetition is not checked: its subject or workflow may have been removed since, and it
 * still gets the first response.
 *
 * @param check throws the refusal
 */
export async function checkUnlessRepeated(
  { deps, caller, key, requestHash: hash }: RequestByKey,
  check: () => unknown,
): Promise<void> {
  try {
    await check();
  } catch (error) {
    const mayBeLater = error instanceof CairnError && LATER_REFUSALS.has(error.code);
    if (!mayBeLater || key === undefined) throw error;
    const name = apiKey(caller.principal, key);
    const stored = await sendUntilKnown(deps, () => deps.records.read(name));
    const repeated = { tenantId: caller.tenantId, requestHash: hash, now: deps.clock.now() };
    if (!stored || NOT_A_REPETITION.has(decideExisting(stored.record, repeated).kind)) throw error;
  }
}

/** Path of the created resource, from the body of the 201 response. */
export type LocationOf = (body: Readonly<Record<string, Json>>) => string;

export function inFlight(): Response {
  return jsonResponse(
    { status: 'in_flight' },
    { status: 202, headers: { 'retry-after': String(RETRY_AFTER_S) } },
  );
}

function answerFor(outcome: OnceResult, locationOf: LocationOf | undefined): Response {
  if (outcome.kind === 'in_flight') return inFlight();
  const { status, body } = outcome.response;
  return new TextResponse(canonicalJson(body), {
    status,
    headers: {
      'content-type': status < 400 ? 'application/json' : 'application/problem+json',
      ...(status === 201 && locationOf
        ? { location: locationOf(body as Readonly<Record<string, Json>>) }
        : {}),
      ...(outcome.kind === 'replayed' ? { 'idempotency-replayed': 'true' } : {}),
    },
  });
}

async function readBody(request: Request, maxBytes: number): Promise<JsonObject> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return {};
  if (mediaType(request) !== 'application/json') {
    throw new CairnError('UNSUPPORTED_MEDIA_TYPE', 'the body must be JSON', { field: 'Content-Type' });
  }
  return parseObject(decode(bytes));
}

function checked<Body>(schema: z.ZodType<Body>, json: JsonObject): Body {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const { field, why } = firstIssue(
    issue && unknown !== undefined
      ? [{ path: [...issue.path, unknown], message: 'is not a known member' }]
      : parsed.error.issues,
  );
  // A problem of the whole body has no path, and a member may have an empty name.
  const named = field !== '' ? field : unknown === '' ? 'the member ""' : 'the body';
  throw new CairnError(
    'INVALID_INPUT',
    `${named}: ${why}`,
    field === '' ? { help: unknown === '' ? NAMELESS_HELP : undefined } : { field },
  );
}
