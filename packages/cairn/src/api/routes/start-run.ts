/** `POST /v1/runs`: starts a run, once per idempotency key of the caller. */
import { closest } from '../../core/closest.ts';
import { requestHash } from '../../core/encoding/fingerprint.ts';
import { apiKey, readApiIdempotencyHeader } from '../../core/encoding/idempotency-keys.ts';
import { canonicalJson } from '../../core/encoding/json.ts';
import { threadIdOf } from '../../core/encoding/thread-id.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import { MAX_PAYLOAD_BYTES } from '../../core/run/limits.ts';
import { cut } from '../../core/run/records.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { decode, type JsonObject, mediaType, parseObject, readBytes } from '../../http/body.ts';
import { TextResponse } from '../../http/buffered.ts';
import { clientOf, contextOf } from '../../http/caller-context.ts';
import type { StartResult } from '../../operations/start/request.ts';
import { startMapped } from '../../operations/start/start-mapped.ts';
import type { ApiDeps } from '../deps.ts';
import { inFlight } from '../mutation.ts';
import { StartBody } from '../openapi/schemas/bodies.ts';
import { handleInTurn, type RouteCall } from '../route.ts';

/** {@link bodyOf} reads the body itself, so that its errors list the known types. */
const MEMBERS: ReadonlySet<string> = new Set(Object.keys(StartBody.shape));
/** Number and length of the unknown members named in an error: a body can have a million. */
const NAMED_MEMBERS = 5;
const NAME_CHARS = 100;

type StartCall = RouteCall<'POST /v1/runs'>;

export async function start(call: StartCall): Promise<Response> {
  const { request } = call;
  const key = readApiIdempotencyHeader((name) => request.headers.get(name) ?? undefined);
  if (mediaType(request) !== 'application/json') {
    throw new CairnError('UNSUPPORTED_MEDIA_TYPE', 'the body must be JSON', { field: 'Content-Type' });
  }
  const bytes = await readBytes(request, MAX_PAYLOAD_BYTES);
  return handleInTurn(call, bytes.length, () => startOf(call, bytes, key));
}

async function startOf(
  { deps, caller, request: { headers } }: StartCall,
  bytes: Buffer,
  key: string | undefined,
): Promise<Response> {
  const body = parseObject(decode(bytes));
  const keyed = {
    tenantId: caller.tenantId,
    key: key === undefined ? undefined : apiKey(caller.principal, key),
    requestHash: requestHash('POST /v1/runs', body),
  };
  const mapping = () => bodyOf(deps, body);
  const outcome = await startMapped(deps, keyed, mapping, (target) => ({
    ...keyed,
    ...target,
    environment: deps.environment,
    input: body.input,
    trigger: { source: clientOf(headers), userId: caller.principal },
    source: 'api',
    ...contextOf(headers),
  }));
  return answerFor(outcome);
}

interface StartTarget {
  readonly workflow: Workflow;
  readonly threadId: string | undefined;
}

function bodyOf({ registry }: ApiDeps, body: JsonObject): StartTarget {
  const unknown = Object.keys(body).filter((name) => !MEMBERS.has(name));
  const [first] = unknown;
  if (first !== undefined) {
    const named = unknown.slice(0, NAMED_MEMBERS).map((name) => JSON.stringify(cut(name, NAME_CHARS)));
    const rest = unknown.length > NAMED_MEMBERS ? [`${unknown.length - NAMED_MEMBERS} more`] : [];
    const names = [...named, ...rest].join(', ');
    const field = first === '' ? 'body' : cut(first, NAME_CHARS);
    throw invalid(field, `unknown members: ${names}; use ${[...MEMBERS].join(', ')}`);
  }
  const { type } = body;
  if (typeof type !== 'string') throw invalid('type', 'type must be a workflow type');
  const workflow = registry.newest(type);
  if (!workflow) {
    const known = registry.types();
    const near = closest(type, known);
    const suggestion = near === undefined ? '' : `did you mean ${near}? `;
    throw invalid(
      'type',
      `no workflow ${JSON.stringify(type.slice(0, 100))} is deployed; ${suggestion}deployed workflows: ${known.join(', ') || 'none'}`,
    );
  }
  if (!('input' in body)) throw invalid('input', 'input is missing');
  return { workflow, threadId: threadIdOf(body.threadId) };
}

/** The first response and every repetition have the same bytes: canonical text, however the response was kept. */
export function answerFor(outcome: StartResult): Response {
  if (outcome.kind === 'in_flight') return inFlight();
  const replayed = outcome.kind === 'replayed';
  return new TextResponse(canonicalJson(outcome.response), {
    status: replayed ? 200 : 201,
    headers: {
      'content-type': 'application/json',
      location: `/v1/runs/${outcome.runId}`,
      ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
    },
  });
}

function invalid(field: string, message: string): CairnError {
  return invalidInput(field.slice(0, 100), message);
}
