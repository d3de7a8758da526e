/**
 * Error responses: `application/problem+json`, the same for all endpoints (API and webhooks). Converts errors of
 * the inner layers; the text of foreign errors is never sent.
 */
import { CairnError, toProblem } from '../core/errors.ts';
import { NewerSchemaError } from '../core/run/events.ts';
import { UnreadableText } from '../core/run/readable.ts';
import { messageOf, readableThrown, stacksOf } from '../core/thrown.ts';
import { GRPC_STATUS } from '../ports/grpc-outcome.ts';
import type { Log } from '../ports/log.ts';
import { OutcomeUnknown, StoreRefused, UndecodableDocument } from '../ports/store-errors.ts';
import { TextResponse } from './buffered.ts';

/** Long enough for a store or an instance to recover, short enough for a waiting person. */
export const RETRY_AFTER_S = 2;
const INSTALLATION_HELP =
  'The service lacks permissions or its database. Tell the operator, then send the same request again.';
/** Longest text of a failure and its causes in the log. */
const LOGGED_CHARS = 20_000;

/** The response for any thrown value. Logs server errors with their cause. */
export function problemResponse(thrown: unknown, log: Log): Response {
  const error = readableThrown(thrown);
  const known = asOurs(error);
  const problem = toProblem(known);
  if (problem.status >= 500) {
    log.error('request_failed', {
      code: problem.code,
      detail: problem.detail,
      error: stacksOf(error, LOGGED_CHARS) ?? messageOf(error),
    });
  }
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' };
  if (problem.status === 503 || problem.status === 429)
    headers['retry-after'] = String(problem.details?.retryAfterSeconds ?? RETRY_AFTER_S);
  if (problem.status === 405) headers.allow = String(problem.details?.allowed ?? '');
  return new TextResponse(JSON.stringify(problem), { status: problem.status, headers });
}

/** @param allowed methods of the resource, for the `Allow` header */
export function methodNotAllowed(method: string, allowed: readonly string[]): CairnError {
  const list = allowed.join(', ');
  return new CairnError('METHOD_NOT_ALLOWED', `${method} is not supported here; use ${list}`, {
    details: { allowed: list },
  });
}

/**
 * The error in the form for a caller. The request may be repeated after each of these errors: a start with a key is recognised, and a
 * read changes nothing.
 */
export function asOurs(error: unknown): unknown {
  if (error instanceof OutcomeUnknown) {
    return new CairnError('UNAVAILABLE', 'the store did not respond in time', { cause: error });
  }
  if (error instanceof NewerSchemaError) {
    return new CairnError('UNAVAILABLE', 'a newer version of this service is being deployed', {
      cause: error,
    });
  }
  if (error instanceof StoreRefused) return refusedByStore(error);
  // The write was to another run than that of the request.
  if (error instanceof Error && error.cause instanceof StoreRefused) return refusedByStore(error.cause);
  if (error instanceof UndecodableDocument || error instanceof UnreadableText)
    return new CairnError('DATA_DAMAGED', error.message, { cause: error });
  return error;
}

/** The text of the store is only logged, because it may quote the document. */
function refusedByStore(error: StoreRefused): CairnError {
  const [status = String(error.code)] =
    Object.entries(GRPC_STATUS).find(([, code]) => code === error.code) ?? [];
  return new CairnError('STORE_REFUSED', `the store refuses a read or write of this request (${status})`, {
    details: { status, reason: error.reason },
    help: error.reason === 'installation' ? INSTALLATION_HELP : undefined,
    cause: error,
  });
}
