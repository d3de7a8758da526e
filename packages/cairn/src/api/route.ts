/**
 * Passes a request to its handler, by the table of operations (`openapi/paths/`). Enforces the table: the role of the
 * caller, the query parameters, the schema of the body, and that a request with an idempotency key is performed once.
 *
 * Must not: know what any route does.
 */
import type { z } from 'zod';
import { BufferedRequest, jsonResponse } from '../http/buffered.ts';
import type { KeptResponse, Progress } from '../operations/once-per-key.ts';
import { assertRole, type Caller } from './auth.ts';
import { boundPage, type CursorList, placeOf } from './cursors.ts';
import type { ApiDeps } from './deps.ts';
import type { Instance } from './instance.ts';
import { answerOnce, checkUnlessRepeated, type LocationOf, type Mutation, readMutation } from './mutation.ts';
import type { ParamsOf } from './openapi/calls.ts';
import type { OPERATIONS, OperationName } from './openapi/paths/all.ts';
import { type ApiOperation, BODIES, type BodyName } from './openapi/paths/describe.ts';
import type { QueryValues } from './parameters.ts';
import { queryValues, type SentQuery, sentQuery } from './query.ts';

type QueryOf<N extends OperationName> = (typeof OPERATIONS)[N] extends { readonly query: infer Q }
  ? QueryValues<Q>
  : Readonly<Record<never, never>>;

type ParsedBodyOf<N extends OperationName> = (typeof OPERATIONS)[N] extends {
  readonly body: infer S extends BodyName;
}
  ? z.output<(typeof BODIES)[S]>
  : unknown;

/** A request whose role and query parameters conform to the table. */
export interface RouteCall<N extends OperationName> {
  readonly deps: ApiDeps;
  readonly instance: Instance;
  readonly caller: Caller;
  /** Path parameters, percent-decoded. */
  readonly params: ParamsOf<N>;
  readonly query: QueryOf<N>;
  readonly request: Request;
}

/** A request whose body conforms to the table as well. */
export type MutationCall<N extends OperationName> = RouteCall<N> & Mutation<ParsedBodyOf<N>>;

/** Objects are sent as JSON with status 200. */
type RouteAnswer = Response | object | Promise<Response | object>;

/** Handles a read, or a request whose body the handler reads itself. */
export type ReadHandler<N extends OperationName> = (call: RouteCall<N>) => RouteAnswer;

interface BodyLimits {
  /** Default: {@link MAX_BODY_BYTES}. */
  readonly maxBodyBytes?: number;
  /** Large bodies are queued by size ({@link handleInTurn}). */
  readonly waitsIfLarge?: true;
}

/** Changes something, once per idempotency key of the caller. */
export interface ChangeHandler<N extends OperationName> extends BodyLimits {
  /** Refuses requests that must leave no record: called before the key is recorded. */
  readonly before?: (call: MutationCall<N>) => unknown;
  /** @param requestId identifies the request, so that a second attempt is recognised */
  readonly work: (call: MutationCall<N>, requestId: string, progress: Progress) => Promise<KeptResponse>;
  readonly locationOf?: LocationOf;
}

/** Performs a change that keeps the idempotency key itself, or needs none. */
export interface DirectChangeHandler<N extends OperationName> extends BodyLimits {
  readonly answer: (call: MutationCall<N>) => RouteAnswer;
}

type Handler<N extends OperationName> = ReadHandler<N> | ChangeHandler<N> | DirectChangeHandler<N>;

/** Every operation with its handler. A missing or extra handler does not compile. */
export type Routes = { readonly [N in OperationName]: Handler<N> };

/** Far above the size of any change. A start carries an input and has its own limit. */
export const MAX_BODY_BYTES = 64 * 1024;
/** A larger body takes 20 ms of processor time or more. */
const MEDIUM_BODY_BYTES = 256 * 1024;
/** A larger body takes about ten times its size in memory. */
export const LARGE_BODY_BYTES = 1024 * 1024;

/** A request from the router. `caller` is undefined only if the role is `open`. */
interface RoutedRequest extends Pick<RouteCall<OperationName>, 'deps' | 'instance' | 'request'> {
  readonly caller: Caller | undefined;
  readonly params: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noExplicitAny: the table of routes has checked which handler belongs to which operation
export type AnyHandler = Handler<any>;

/** @throws CairnError FORBIDDEN, INVALID_INPUT, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, and what the handler throws */
export async function answerCall(
  operation: ApiOperation,
  handler: AnyHandler,
  call: RoutedRequest,
): Promise<Response> {
  const { role, query: parameters = {}, ignoresQuery, readsMany, body } = operation;
  const { caller, request } = call;
  if (role !== 'open') assertRole(caller as Caller, role);
  const sent = ignoresQuery ? {} : sentQuery(request.url, parameters);
  const list = 'cursor' in parameters ? listOf(operation, call, sent) : undefined;
  const cursor = list && sent.cursor !== undefined ? { cursor: placeOf(sent.cursor, list) } : {};
  const query = queryValues({ ...sent, ...cursor }, parameters);
  const readCall = { ...call, query } as RouteCall<never>;
  const { lists } = call.instance;
  if (typeof handler === 'function') {
    const read = async () => {
      const answer = await handler(readCall);
      return asResponse(list && !(answer instanceof Response) ? boundPage(answer, list) : answer);
    };
    return list || readsMany ? lists.run(turnOf(readCall), read) : read();
  }
  const { maxBodyBytes: maxBytes = MAX_BODY_BYTES } = handler;
  const schema: z.ZodType = BODIES[body as BodyName];
  const answer = async () => {
    const mutation = await readMutation(request, {
      schema,
      maxBytes,
      query: sent,
      known: Object.keys(parameters),
    });
    return handleChange(handler, { ...readCall, ...mutation } as MutationCall<never>);
  };
  if (readsMany) return lists.run(turnOf(readCall), answer);
  return handler.waitsIfLarge ? handleInTurn(readCall, sizeOf(request), answer) : answer();
}

/** Queues a request by the size of its body: an instance handles fewer large bodies at a time. */
export function handleInTurn(
  call: Pick<RouteCall<never>, 'caller' | 'request' | 'instance'>,
  bytes: number,
  handle: () => Promise<Response>,
): Promise<Response> {
  const { starts, mediumStarts } = call.instance;
  if (bytes > LARGE_BODY_BYTES) return starts.run(turnOf(call), handle);
  return bytes > MEDIUM_BODY_BYTES ? mediumStarts.run(turnOf(call), handle) : handle();
}

/** The caller in the form that semaphores take. */
export function turnOf({ caller, request }: Pick<RouteCall<never>, 'caller' | 'request'>) {
  return { tenantId: caller.tenantId, request };
}

/** The list of which a request reads a page. Its cursor must belong to this list. */
function listOf(
  { id: operation }: ApiOperation,
  { caller, params }: RoutedRequest,
  sent: SentQuery,
): CursorList {
  const { cursor: _, limit: __, ...selecting } = sent;
  return { tenantId: caller?.tenantId, operation, parameters: { ...params, ...selecting } };
}

/** Also handles changes that are parts of another request. @throws errors of the handler */
export async function handleChange<N extends OperationName>(
  handler: ChangeHandler<N> | DirectChangeHandler<N>,
  call: MutationCall<N>,
): Promise<Response> {
  if ('answer' in handler) return asResponse(await handler.answer(call));
  await checkUnlessRepeated(call, () => handler.before?.(call));
  const work = (requestId: string, progress: Progress) => handler.work(call, requestId, progress);
  return answerOnce(call, work, handler.locationOf);
}

/** A body of unknown length counts as infinitely large. */
function sizeOf(request: Request): number {
  if (request instanceof BufferedRequest) return request.whole.length;
  const length = request.headers.get('content-length');
  if (length !== null) return Number(length);
  return request.body === null ? 0 : Number.POSITIVE_INFINITY;
}

function asResponse(answer: Response | object): Response {
  return answer instanceof Response ? answer : jsonResponse(answer);
}
