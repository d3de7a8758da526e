/** `POST /v1/runs`: starts a run, once per idempotency key of the caller. */
import { z } from 'zod';
import { closest } from '../../core/closest.ts';
import { requestHash } from '../../core/encoding/fingerprint.ts';
import { canonicalJson } from '../../core/encoding/json.ts';
import { apiKey, readApiIdempotencyHeader } from '../../core/encoding/keys.ts';
import { CairnError } from '../../core/errors.ts';
import { MAX_PAYLOAD_BYTES } from '../../core/run/limits.ts';
import { cut } from '../../core/run/records.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { decode, type JsonObject, mediaType, parseObject, readBytes } from '../../http/body.ts';
import { clientOf, contextOf } from '../../http/caller-context.ts';
import type { StartOutcome } from '../../operations/start/request.ts';
import { startRun } from '../../operations/start/start-run.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { inFlight, principalOf } from '../mutation.ts';
import { readQuery } from '../query.ts';
import type { Turnstile } from '../turnstile.ts';

/** What one request can carry to a function, and the largest input of a run: nobody can send one that is refused later. */
const MAX_BODY_BYTES = MAX_PAYLOAD_BYTES;
/** A larger body waits for its turn: while it is handled it takes about ten times its size. */
const LARGE_BODY_BYTES = 1024 * 1024;
/** Visible ASCII: it stands in queries, logs and other systems. */
export const THREAD_ID = /^[\x21-\x7e]{1,255}$/;

/** What the document says of the body; {@link readBody} reads it by hand, to name the types there are. */
export const StartBody = z.strictObject({
  type: z.string(),
  input: z.unknown(),
  threadId: z.string().regex(THREAD_ID).optional(),
});
const MEMBERS: ReadonlySet<string> = new Set(Object.keys(StartBody.shape));
/** How many unknown members an answer names, and with how much of their names: a body holds a million. */
const NAMED_MEMBERS = 5;
const NAME_CHARS = 100;

export interface StartCall {
  readonly request: Request;
  /** Of this instance: where large requests wait for each other. */
  readonly large: Turnstile;
}

export async function startFromApi(
  deps: ApiDeps,
  caller: Caller,
  { request, large }: StartCall,
): Promise<Response> {
  assertRole(caller, 'submitter');
  readQuery(request.url, []);
  const key = readApiIdempotencyHeader((name) => request.headers.get(name) ?? undefined);
  if (mediaType(request) !== 'application/json') {
    throw new CairnError('UNSUPPORTED_MEDIA_TYPE', 'the body must be JSON', { field: 'Content-Type' });
  }
  const bytes = await readBytes(request, MAX_BODY_BYTES);
  const start = () => startOf(deps, caller, { bytes, key, headers: request.headers });
  return bytes.length > LARGE_BODY_BYTES ? large.pass(start) : start();
}

interface Sent {
  readonly bytes: Buffer;
  readonly key: string | undefined;
  readonly headers: Headers;
}

async function startOf(deps: ApiDeps, caller: Caller, { bytes, key, headers }: Sent): Promise<Response> {
  const body = parseObject(decode(bytes));
  const { workflow, threadId } = readBody(deps, body);
  const outcome = await startRun(deps.start, {
    tenantId: caller.tenantId,
    environment: deps.environment,
    workflow,
    input: body.input,
    trigger: { source: clientOf(headers), userId: principalOf(caller) },
    source: 'api',
    key: key === undefined ? undefined : apiKey(principalOf(caller), key),
    requestHash: requestHash('POST /v1/runs', body),
    threadId,
    ...contextOf(headers),
  });
  return answerFor(outcome);
}

interface StartBody {
  readonly workflow: Workflow;
  readonly threadId: string | undefined;
}

function readBody({ registry }: ApiDeps, body: JsonObject): StartBody {
  const unknown = Object.keys(body).filter((name) => !MEMBERS.has(name));
  const [first] = unknown;
  if (first !== undefined) {
    const named = unknown.slice(0, NAMED_MEMBERS).map((name) => JSON.stringify(cut(name, NAME_CHARS)));
    const rest = unknown.length > NAMED_MEMBERS ? [`${unknown.length - NAMED_MEMBERS} more`] : [];
    const names = [...named, ...rest].join(', ');
    const field = first === '' ? 'body' : cut(first, NAME_CHARS);
    throw invalid(field, `unknown members: ${names}; use ${[...MEMBERS].join(', ')}`);
  }
  const { type, threadId } = body;
  if (typeof type !== 'string') throw invalid('type', 'type must be a workflow type');
  const workflow = registry.newest(type);
  if (!workflow) {
    const known = registry.types();
    const near = closest(type, known);
    const meant = near === undefined ? '' : `did you mean ${near}? `;
    throw invalid(
      'type',
      `no workflow ${JSON.stringify(type.slice(0, 100))} is deployed; ${meant}deployed workflows: ${known.join(', ')}`,
    );
  }
  if (!('input' in body)) throw invalid('input', 'input is missing');
  if (threadId !== undefined && (typeof threadId !== 'string' || !THREAD_ID.test(threadId))) {
    throw invalid('threadId', 'threadId must be 1 to 255 visible ASCII characters');
  }
  return { workflow, threadId };
}

/** The same bytes for the first answer and every repetition: canonical text, whichever way the response was kept. */
export function answerFor(outcome: StartOutcome): Response {
  if (outcome.kind === 'in_flight') return inFlight();
  const replayed = outcome.kind === 'replayed';
  return new Response(canonicalJson(outcome.response), {
    status: replayed ? 200 : 201,
    headers: {
      'content-type': 'application/json',
      location: `/v1/runs/${outcome.runId}`,
      ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
    },
  });
}

function invalid(field: string, message: string): CairnError {
  return new CairnError('INVALID_INPUT', message, { field: field.slice(0, 100) });
}
