/**
 * Converts between the Express request and response of Cloud Functions and the web's `Request` and `Response`
 * of the handlers.
 *
 * Must not: read or change a body, because the handlers verify signatures over its bytes.
 */
import type { Request as FunctionRequest } from 'firebase-functions/https';
import { BufferedRequest, TextResponse } from '../http/buffered.ts';
import { methodNotAllowed, problemResponse } from '../http/problem.ts';
import type { Log } from '../ports/log.ts';
import { contentTypeOf } from './body-guard.ts';

/** The used part of Express's response. */
export interface FunctionResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  /** False: the client accepts nothing more until `drain`. */
  write(chunk: Uint8Array): boolean;
  end(body?: Buffer): unknown;
  destroy(): unknown;
  /** True if the client has disconnected, or has the complete response. */
  readonly closed: boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
}

/** Connection to the caller. */
type ClientConnection = Pick<FunctionResponse, 'closed' | 'once'>;

const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);
/** Methods that `Request` refuses (fetch standard, forbidden methods). */
const UNSUPPORTED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK']);
const ALLOWED = ['GET', 'HEAD', 'POST'];
/** A larger response is sent in chunks without a length, because the platform refuses to buffer more than 32 MiB. */
const WHOLE_BYTES = 8 * 1024 * 1024;
/** Content type that is sent piece by piece. */
const STREAM_TYPE = 'text/event-stream';
/** Only the path and query are read. The host name in a request has no effect. */
const ORIGIN = 'http://functions.invalid';

/** The `signal` aborts when the caller disconnects. It is created on demand, because few handlers wait. */
function withSignal(request: Request, connection: ClientConnection): Request {
  let signal: AbortSignal | undefined;
  return Object.defineProperty(request, 'signal', {
    get: () => {
      signal ??= signalOf(connection);
      return signal;
    },
  });
}

function signalOf(connection: ClientConnection): AbortSignal {
  if (connection.closed) return AbortSignal.abort();
  const disconnected = new AbortController();
  connection.once('close', () => disconnected.abort());
  return disconnected.signal;
}

export function toRequest(incoming: FunctionRequest, connection: ClientConnection): Request {
  const headers: [string, string][] = [];
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (name === 'content-type') continue;
    if (typeof value === 'string') headers.push([name, value]);
    else for (const one of value ?? []) headers.push([name, one]);
  }
  const type = contentTypeOf(incoming);
  if (type !== undefined) headers.push(['content-type', type]);
  const { method, rawBody } = incoming;
  // A path that begins with two slashes would be read as a host.
  const path = incoming.url.replace(/^\/+/, '/');
  const url = `${ORIGIN}${path}`;
  const init = { method, headers };
  const hasBody = !WITHOUT_BODY.has(method) && rawBody;
  return withSignal(hasBody ? new BufferedRequest(url, init, rawBody) : new Request(url, init), connection);
}

/**
 * Handles one request. A method that the web's `Request` cannot represent is refused here, with the same response as any other
 * unsupported method.
 */
export async function exchange(
  { request, response, log }: { request: FunctionRequest; response: FunctionResponse; log: Log },
  answer: (request: Request) => Response | Promise<Response>,
): Promise<void> {
  const { method } = request;
  const refused = UNSUPPORTED_METHODS.has(method);
  await send(
    refused
      ? problemResponse(methodNotAllowed(method, ALLOWED), log)
      : await answer(toRequest(request, response)),
    response,
    method,
  );
}

async function send(answer: Response, response: FunctionResponse, method: string): Promise<void> {
  const headers = Object.fromEntries(answer.headers);
  if (headers['content-type']?.startsWith(STREAM_TYPE) && answer.body) {
    response.writeHead(answer.status, headers);
    return relay(answer.body, response);
  }
  const body =
    answer instanceof TextResponse ? Buffer.from(answer.whole) : Buffer.from(await answer.arrayBuffer());
  // A response to HEAD has no body, so the length of GET's body is unknown.
  if (body.length <= WHOLE_BYTES && (method !== 'HEAD' || body.length > 0))
    headers['content-length'] = String(body.length);
  response.writeHead(answer.status, headers);
  response.end(body);
}

/** Sends each chunk immediately; a client that disconnects cancels the stream at its source. */
async function relay(body: ReadableStream<Uint8Array>, response: FunctionResponse): Promise<void> {
  const reader = body.getReader();
  const disconnected = response.closed
    ? Promise.resolve()
    : new Promise<void>((resolve) => response.once('close', resolve));
  const cancelled = disconnected.then(() => reader.cancel());
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (response.write(value)) continue;
      await Promise.race([disconnected, new Promise<void>((resolve) => response.once('drain', resolve))]);
    }
    response.end();
  } catch {
    // The source of the stream has reported the error. The response is broken off, so that it does not look complete.
    response.destroy();
  }
  await cancelled.catch(() => undefined);
}
