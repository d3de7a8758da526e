/**
 * Refuses bodies before anything reads them. The functions framework inflates and parses up to 1,024 MB before it calls
 * a function, so a few hundred kilobytes of gzip from anyone would crash the instance. Node announces each request
 * before it calls any listener (`http.server.request.start`). At that point a body that is encoded, or larger than its endpoint
 * accepts, is refused. Received bytes are counted, and the content type of public endpoints is hidden from the framework,
 * so that it passes on the bytes without parsing. Endpoints parse after authentication.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CairnError, toProblem } from '../core/errors.ts';

const MIB = 1024 * 1024;
/** Label of a public function of the app, which reads the content type itself. */
const GUARDED = 'guarded';
/** Largest body by function (docs/limits.md). Other functions accept what the platform accepts. */
const MAX_BYTES: Readonly<Record<string, number>> = {
  githubWebhook: 25 * MIB,
  slackWebhook: MIB,
  [GUARDED]: MIB,
};
const MAX_BYTES_ELSE = 32 * MIB;
/**
 * Public functions, whose callers are unauthenticated. The platform calls the others, and the framework must parse its
 * tasks.
 */
const OPEN = new Set(['api', 'githubWebhook', 'slackWebhook']);
/** Bodies up to this size are not counted as large. */
const SMALL_BYTES = MIB;
/** Most bytes of large bodies in an instance at a time. The handlers hold each body up to three times, in 512 MiB of memory. */
const MAX_LARGE_BYTES = 64 * MIB;

/** Most bytes received after a refusal: enough for a client that sends the largest accepted body to read the response. */
const MAX_DISCARDED_BYTES = 32 * MIB;
/** Time for a refused client to stop sending and to read the response. */
const DISCARD_MS = 2_000;

/** The same as in the handlers, whose module is too large to load with the functions. */
const RETRY_AFTER_S = 2;

const types = new WeakMap<IncomingMessage, string | undefined>();

/** The content type that the client sent. */
export function contentTypeOf(request: IncomingMessage): string | undefined {
  return types.has(request) ? types.get(request) : request.headers['content-type'];
}

/**
 * Must be called once, when the functions are loaded. Without the platform (in tests) nothing is guarded.
 *
 * @param memberOf returns Cairn's function of this name, whose parts are joined by dashes; undefined: another function of the codebase,
 *   which reads bodies as it likes
 */
export function guardBodies(memberOf: (name: string) => string | undefined): void {
  const { FUNCTION_TARGET: target, CAIRN_LOCAL: isLocal } = process.env;
  if (target === undefined && isLocal === undefined) return;
  const guard = new BodyGuard();
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const member = memberOf(target?.replaceAll('.', '-') ?? nameIn(request.url));
    if (member === undefined) return;
    // One process of the local cloud serves all functions. Its framework passes bodies on as bytes.
    guard.watch({ request, response, member: target === undefined ? '' : member });
  });
}

/**
 * Guards public functions of the app, such as one of `mcpFunction`, by the names of their exports (`tools.mcp` for a member of
 * `tools`): a body that is encoded or larger than 1 MiB is refused; others arrive unparsed as `rawBody`.
 */
export function guardFunctions(...names: readonly string[]): void {
  const guarded = new Set(names.map((name) => name.replaceAll('.', '-')));
  guardBodies((name) => (guarded.has(name) ? GUARDED : undefined));
}

/** In the local cloud a path begins with the name of the function. */
const nameIn = (url = '') => /^\/([^/?]*)/.exec(url)?.[1] ?? '';

interface Guarded {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly member: string;
}

class BodyGuard {
  /** Received bytes of large bodies whose requests have no response yet. */
  #largeBytes = 0;

  watch({ request, response, member }: Guarded): void {
    const maxBytes = MAX_BYTES[member] ?? MAX_BYTES_ELSE;
    const { headers } = request;
    const encoding = headers['content-encoding'];
    const announced = Number(headers['content-length'] ?? 0);
    const hasBody = announced > 0 || headers['transfer-encoding'] !== undefined;
    if (hasBody && encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
      refuseBefore(request, response, encoded(encoding));
    } else if (announced > maxBytes) {
      refuseBefore(request, response, tooLarge(maxBytes));
    } else {
      // The framework would fail to inflate an empty body.
      if (!hasBody) delete headers['content-encoding'];
      if (OPEN.has(member)) hideType(request);
      if (member === GUARDED) hideTypeUntilRead(request);
      this.#count({ request, response, maxBytes });
    }
  }

  #count({ request, response, maxBytes }: Omit<Guarded, 'member'> & { readonly maxBytes: number }): void {
    const push = request.push.bind(request);
    let received = 0;
    let counted = 0;
    response.once('close', () => {
      this.#largeBytes -= counted;
      counted = 0;
    });
    request.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      received += chunk?.length ?? 0;
      if (received > maxBytes) return refuse(request, response, tooLarge(maxBytes));
      if (received > SMALL_BYTES && !response.closed) {
        this.#largeBytes += received - counted;
        counted = received;
        if (this.#largeBytes > MAX_LARGE_BYTES)
          return refuse(
            request,
            response,
            new CairnError('UNAVAILABLE', 'too many large bodies are being received'),
          );
      }
      return push(chunk, encoding);
    };
  }
}

/** {@link contentTypeOf} reads the type again. The framework ignores a body without a type. */
function hideType(request: IncomingMessage): void {
  types.set(request, request.headers['content-type']);
  request.headers['content-type'] = 'application/octet-stream';
}

/** The framework reads the body before it calls the function. */
function hideTypeUntilRead(request: IncomingMessage): void {
  const { 'content-type': type } = request.headers;
  hideType(request);
  request.once('end', () => {
    if (type === undefined) delete request.headers['content-type'];
    else request.headers['content-type'] = type;
  });
}

/**
 * Refuses a request before the framework gets it. The framework would set headers on a sent response, or refuse the body with
 * an error of its own. So it sees a body of one byte that never arrives, and the response is sent after that.
 */
function refuseBefore(request: IncomingMessage, response: ServerResponse, error: CairnError): void {
  request.push = () => true;
  const { headers } = request;
  delete headers['content-encoding'];
  delete headers['transfer-encoding'];
  headers['content-length'] = '1';
  headers['content-type'] = 'application/octet-stream';
  setImmediate(() => refuse(request, response, error));
}

/**
 * Responds and ends the connection; no further byte reaches the handler. Remaining bytes are received and discarded for
 * a while: closing a connection with unread bytes resets it, and a client that is still sending would lose the response.
 */
function refuse(request: IncomingMessage, response: ServerResponse, error: CairnError): boolean {
  const problem = toProblem(error);
  if (response.headersSent) {
    request.push = () => false;
    request.destroy();
    return false;
  }
  discardUntilClosed(request);
  const body = JSON.stringify(problem);
  response.writeHead(problem.status, {
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    ...(problem.status === 503 ? { 'retry-after': String(RETRY_AFTER_S) } : {}),
  });
  response.end(body);
  return true;
}

function discardUntilClosed(request: IncomingMessage): void {
  const { socket } = request;
  let discarded = 0;
  request.push = (chunk: Buffer | null) => {
    discarded += chunk?.length ?? 0;
    if (discarded > MAX_DISCARDED_BYTES) socket.destroy();
    return true;
  };
  // Node calls this after a response with `connection: close`. Its own version destroys the socket immediately.
  socket.destroySoon = () => socket.end();
  const timer = setTimeout(() => socket.destroy(), DISCARD_MS).unref();
  socket.once('close', () => {
    clearTimeout(timer);
    // Ends readers of the rest of the body.
    request.destroy();
  });
}

function encoded(encoding: string): CairnError {
  return new CairnError(
    'UNSUPPORTED_MEDIA_TYPE',
    `the content encoding ${JSON.stringify(encoding)} is not supported`,
    { field: 'Content-Encoding', help: 'Send the body without Content-Encoding.' },
  );
}

function tooLarge(maxBytes: number): CairnError {
  return new CairnError('PAYLOAD_TOO_LARGE', `the body is larger than ${maxBytes} bytes`);
}
