/**
 * Errors of the local cloud's own servers in the format of the API: `application/problem+json` with a stable code,
 * field and help. In a deployment, the platform returns the same statuses with its own texts.
 *
 * Must not: refuse anything itself.
 */
import type { Server, ServerResponse } from 'node:http';

interface StatusText {
  readonly code: string;
  readonly title: string;
  readonly help: string;
}

const INVALID: StatusText = {
  code: 'INVALID_INPUT',
  title: 'The input is not valid',
  help: 'Correct the named field and send the request again.',
};
const UNAVAILABLE: StatusText = {
  code: 'UNAVAILABLE',
  title: 'The service is temporarily unavailable',
  help: 'Wait for the time in `Retry-After` and send the same request again.',
};

/** Texts by status, equal to those of the API's codes (a test compares them). */
export const PROBLEMS: Readonly<Record<number, StatusText>> = {
  400: INVALID,
  403: {
    code: 'FORBIDDEN',
    title: 'Not allowed',
    help: 'Ask an administrator of the tenant for the required role.',
  },
  404: { code: 'NOT_FOUND', title: 'No such resource', help: 'Check the path and the ids in it.' },
  408: INVALID,
  413: {
    code: 'PAYLOAD_TOO_LARGE',
    title: 'The payload is too large',
    help: 'Store large data elsewhere and pass a reference to it.',
  },
  415: {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    title: 'The content type is not supported',
    help: 'Send `Content-Type: application/json`.',
  },
  417: INVALID,
  431: {
    code: 'HEADERS_TOO_LARGE',
    title: 'The headers are too many or too large',
    help: 'Omit headers and cookies that the request does not need.',
  },
  500: {
    code: 'INTERNAL',
    title: 'Internal error',
    help: 'Send the same request with the same idempotency key again. It is not performed twice.',
  },
  503: UNAVAILABLE,
  504: UNAVAILABLE,
};

/** Value of `Retry-After`, as in the API. */
const RETRY_AFTER_S = 2;

/** Optional help and field. */
export interface More {
  readonly field?: string;
  readonly help?: string;
}

export interface ProblemAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @param status one of {@link PROBLEMS}; others become an internal error */
export function refusalOf(status: number, detail: string, { field, help }: More = {}): ProblemAnswer {
  const entry = PROBLEMS[status] ?? PROBLEMS[500] ?? UNAVAILABLE;
  const body = JSON.stringify({
    type: `urn:cairn:problem:${entry.code}`,
    title: entry.title,
    status,
    detail,
    code: entry.code,
    ...(field === undefined ? {} : { field }),
    help: help ?? entry.help,
  });
  const headers = {
    'content-type': 'application/problem+json',
    ...(entry === UNAVAILABLE ? { 'retry-after': String(RETRY_AFTER_S) } : {}),
  };
  return { headers, body };
}

/** Sends a problem. If a response has begun, cuts it instead, so that the client sees that it is incomplete. */
export function refuse(response: ServerResponse, status: number, detail: string, more?: More): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { headers, body } = refusalOf(status, detail, more);
  response.writeHead(status, headers).end(body);
}

/** Refuses expectations other than `100-continue` with a reason, which Node omits. Call it when the server is created. */
export function answerExpectations(server: Server): void {
  server.on('checkExpectation', (_request, response) =>
    refuse(response, 417, 'the only supported expectation is 100-continue', {
      field: 'Expect',
      help: 'Omit the header `Expect`.',
    }),
  );
}
