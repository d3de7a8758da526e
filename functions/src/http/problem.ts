/**
 * Every refusal on the wire: `application/problem+json`, the same for each door (API and webhooks). Translates what
 * the inner layers throw into an answer; the text of an error that is not ours never leaves.
 */
import { CairnError, toProblem } from '../core/errors.ts';
import { NewerSchemaError } from '../core/run/events.ts';
import type { Log } from '../ports/log.ts';
import { OutcomeUnknown } from '../ports/store-errors.ts';

/** Long enough for a store or an instance to come back, short enough for a person who waits. */
export const RETRY_AFTER_S = 2;

/** The answer for anything thrown. Logs what is our fault, with its cause. */
export function problemResponse(error: unknown, log: Log): Response {
  const known = asOurs(error);
  const problem = toProblem(known);
  if (problem.status >= 500) {
    log.error('request_failed', { code: problem.code, detail: problem.detail, error: describe(error) });
  }
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' };
  if (problem.status === 503 || problem.status === 429)
    headers['retry-after'] = String(problem.details?.retryAfterSeconds ?? RETRY_AFTER_S);
  if (problem.status === 405) headers.allow = String(problem.details?.allowed ?? '');
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

/** @param allowed methods the resource has, for the `Allow` header */
export function methodNotAllowed(method: string, allowed: readonly string[]): CairnError {
  const list = allowed.join(', ');
  return new CairnError('METHOD_NOT_ALLOWED', `${method} is not possible here; use ${list}`, {
    details: { allowed: list },
  });
}

/** Both leave the request safe to repeat: a start with a key is recognised, a read changes nothing. */
function asOurs(error: unknown): unknown {
  if (error instanceof OutcomeUnknown) {
    return new CairnError('UNAVAILABLE', 'the store did not answer in time', { cause: error });
  }
  if (error instanceof NewerSchemaError) {
    return new CairnError('UNAVAILABLE', 'a newer version of this service is being deployed', {
      cause: error,
    });
  }
  return error;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return `${error.stack ?? error.message}${cause === undefined ? '' : `\ncaused by: ${describe(cause)}`}`;
}
