/**
 * The tools over HTTP: streamable HTTP without sessions, as a web-standard handler.
 *
 * Owns authentication: the API checks the caller's credential before the request is handled, and again with each request of a
 * tool. Must not: hold a credential of its own, or keep anything between requests.
 */
import { createHmac } from 'node:crypto';
import { CairnClient, type Fetch, Unreachable } from '@cairn/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { mcpServer } from './server.ts';

export interface HandlerOptions {
  /** URL of the API, or a function that returns it: parameters of functions have no value at load. */
  readonly url: string | (() => string);
  /** Default: that of this machine. */
  readonly fetch?: Fetch;
  /** Receives errors of invalid MCP requests, and errors outside tool calls. */
  readonly onError?: (error: Error) => void;
}

const BEARER = /^Bearer +(\S+)$/i;
/** Statuses of the API that are passed on unchanged. */
const REFUSALS = [401, 403, 429];

export function mcpHandler(options: HandlerOptions): (request: Request) => Promise<Response> {
  const { onError } = options;
  const clientFor = (credential: string) =>
    new CairnClient({
      url: typeof options.url === 'string' ? options.url : options.url(),
      credential,
      ...(options.fetch && { fetch: options.fetch }),
    });
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const credential = credentialOf(requestInfo?.headers);
      // Unreachable: the check below refuses a request without a credential.
      if (credential === undefined) throw new Error('a request without a credential reached the tools');
      // An agent does not see the credential of its client, so it cannot make a token.
      const secret = createHmac('sha256', credential).update('cairn preview token').digest();
      return mcpServer({ client: clientFor(credential), secret });
    },
    // No subscriptions: the server sends no notifications.
    { maxSubscriptions: 0, ...(onError && { onerror: onError }) },
  );
  return async (request) => {
    const credential = credentialOf(request.headers);
    if (credential === undefined)
      return refusal(
        401,
        'UNAUTHENTICATED',
        'no credential',
        'Send an API key or ID token as Authorization: Bearer.',
      );
    const known = await clientFor(credential)
      .exchange({ method: 'GET', target: '/v1/me' })
      .catch((error: unknown) => {
        if (error instanceof Unreachable) return error;
        throw error;
      });
    if (known instanceof Unreachable) {
      onError?.(known);
      return unavailable('the API does not respond');
    }
    const { status, text, headers } = known;
    if (status === 200) return handler.fetch(request);
    if (!REFUSALS.includes(status)) return unavailable(`the API answered ${status}`);
    return new Response(text, { status, headers: passedOn(status, headers.get('retry-after')) });
  };
}

function credentialOf(headers: Headers | undefined): string | undefined {
  return BEARER.exec(headers?.get('authorization') ?? '')?.[1];
}

function passedOn(status: number, retryAfter: string | null): Record<string, string> {
  return {
    'content-type': 'application/problem+json',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(retryAfter !== null && { 'retry-after': retryAfter }),
  };
}

function unavailable(title: string): Response {
  return refusal(503, 'UNAVAILABLE', title, 'Try again in a moment.');
}

export function refusal(status: number, code: string, title: string, help: string): Response {
  return Response.json({ code, title, status, help }, { status, headers: passedOn(status, null) });
}
