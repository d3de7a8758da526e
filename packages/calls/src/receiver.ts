/**
 * Calls the receiver of an instance over HTTP. Owns the meaning of its response, or of a missing one, for the call.
 *
 * Must not: repeat a call. The step does, if the ledger allows it.
 */
import { type Binding, type CallOptions, defineBinding, NotApplied } from 'cairn';
import { retryAfter, wasNeverSent } from 'cairn/outside';
import { callUrl } from './address.ts';
import { type CallAnswer, type HttpCall, repeatableCall, singleCall } from './capabilities.ts';

export interface Receiver {
  /** Called for each request. */
  readonly url: () => string;
  /** `none`: nothing is sent. */
  readonly token: () => string;
  /** Epoch ms. */
  readonly now: () => number;
  /** Replaces the `fetch` of the runtime. */
  readonly fetch?: typeof fetch;
}

const MAX_ANSWER_BYTES = 64 * 1024;
/** Less than the 200 levels of a result, which contains the body. */
const MAX_ANSWER_DEPTH = 100;
/** The receiver has not acted: too early, too many requests. */
const NOT_BEGUN: ReadonlySet<number> = new Set([425, 429]);
/** Redirects to the result of an action that took place (RFC 9110, 15.4.4). Many receivers send 302 in place of 303. */
const SHOWN_ELSEWHERE: ReadonlySet<number> = new Set([302, 303]);
/** Temporary refusals: conflict, locked. */
const PASSING: ReadonlySet<number> = new Set([409, 423]);

export function callsTo(receiver: Receiver): readonly Binding[] {
  const call = (request: HttpCall, options: CallOptions) => made(receiver, request, options);
  return [
    defineBinding(repeatableCall, { id: 'http.receiver', call }),
    defineBinding(singleCall, { id: 'http.receiver-once', call }),
  ];
}

/** @throws NotApplied if the receiver certainly did not act, Error if it may have */
async function made(receiver: Receiver, request: HttpCall, options: CallOptions): Promise<CallAnswer> {
  const response = await sent(receiver, request, options);
  const { status } = response;
  if (response.ok) return { status, ...(await bodyOf(response)) };
  await response.body?.cancel();
  throw refusalOf(status, retryAfter(response.headers.get('retry-after') ?? undefined, receiver.now()));
}

/** Error for a response without success. */
export function refusalOf(status: number, retryAt: number | undefined): Error {
  const message = `the receiver answered ${status}`;
  if (status === 408 || status >= 500 || SHOWN_ELSEWHERE.has(status)) return new Error(message);
  if (NOT_BEGUN.has(status)) return new NotApplied(message, retryAt === undefined ? {} : { retryAt });
  return PASSING.has(status) ? new NotApplied(message) : new NotApplied(message, { final: true });
}

async function sent(receiver: Receiver, request: HttpCall, options: CallOptions): Promise<Response> {
  const { method, path, body } = request;
  const { idempotencyKey, signal, traceparent } = options;
  const address = callUrl(receiver.url(), path);
  const bearer = receiver.token().trim();
  try {
    return await (receiver.fetch ?? fetch)(address, {
      method,
      headers: {
        'idempotency-key': idempotencyKey,
        ...(bearer === '' || bearer === 'none' ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A redirect is an error: a receiver that has moved needs a new configuration.
      redirect: 'manual',
      signal,
    });
  } catch (cause) {
    if (wasNeverSent(cause)) throw new NotApplied('the receiver could not be reached', { cause });
    throw new Error('the receiver did not respond', { cause });
  }
}

/** The receiver has already acted, so a body that is too long, incomplete or not storable as JSON is not a failure. */
async function bodyOf(response: Response): Promise<Omit<CallAnswer, 'status'>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isWhole = true;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) {
        isWhole = false;
        break;
      }
    }
  } catch {
    isWhole = false;
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8');
  return { body: isWhole ? jsonOr(text, response.headers) : text, truncated: !isWhole };
}

function jsonOr(text: string, headers: Headers): CallAnswer['body'] {
  if (!/[/+]json\b/i.test(headers.get('content-type') ?? '')) return text;
  try {
    const parsed: unknown = JSON.parse(text);
    return isKept(parsed, MAX_ANSWER_DEPTH) ? parsed : text;
  } catch {
    return text;
  }
}

/**
 * False for JSON that the journal refuses, such as `1e400`, a lone surrogate or thousands of levels, and for a member that the
 * schema would drop.
 */
function isKept(value: unknown, levels: number): value is CallAnswer['body'] {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  return Object.entries(value).every(
    ([name, member]) => name !== '__proto__' && name.isWellFormed() && isKept(member, levels - 1),
  );
}
