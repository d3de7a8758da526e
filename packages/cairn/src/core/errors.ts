/**
 * Owns the stable error codes, the error type that carries one, its form in a response (RFC 9457 problem details), and the errors
 * by which a step body controls the engine.
 *
 * Must not: send a stack, or the message of a foreign error, to the caller.
 */
import type { Json } from './encoding/json.ts';
import { MAX_TIME } from './time.ts';

interface CodeEntry {
  readonly httpStatus: number;
  /** Short and the same for every occurrence. */
  readonly title: string;
  /** Steps to fix the problem. */
  readonly help: string;
}

/** Every stable error code. Codes are only ever added: clients branch on them. */
export const ERROR_CODES = {
  RUN_INVALID_TRANSITION: {
    httpStatus: 409,
    title: 'The run cannot change to that status',
    help: 'Read the run again and choose an action that its status allows.',
  },
  RUN_TERMINAL_STATE: {
    httpStatus: 409,
    title: 'The run has ended',
    help: 'An ended run never changes. Resume, replay or fork it to create a successor.',
  },
  RUN_NOT_FOUND: {
    httpStatus: 404,
    title: 'No such run',
    help: 'Check the run id and that the credentials belong to the tenant of the run.',
  },
  RUN_ORPHANED: {
    httpStatus: 409,
    title: 'The run lost its worker and cannot continue safely',
    help: 'Check the step that was running, then resume the run to create a successor.',
  },
  RUN_RESUME_FAILED: {
    httpStatus: 409,
    title: 'The run could not be resumed',
    help: 'Request a preview of the resume: it names the cause.',
  },
  RUN_UNWRITABLE: {
    httpStatus: 409,
    title: 'The store refuses to write the run',
    help: 'Read the message of the store and fix the cause, then resume the run. A run that could not be ended continues by itself.',
  },
  IDEMPOTENCY_CONFLICT: {
    httpStatus: 409,
    title: 'The request with this idempotency key was never finished',
    help: 'Check whether the request took effect. If not, send it with a new key.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    httpStatus: 422,
    title: 'The idempotency key was used for another request',
    help: 'Use a new key for a new request, or repeat the first request unchanged.',
  },
  IDEMPOTENCY_EXPIRED: {
    httpStatus: 410,
    title: 'The idempotency record has expired',
    help: 'A request with this key would now be new work.',
  },
  RUN_TOO_LARGE: {
    httpStatus: 409,
    title: 'The run is too large',
    help: 'Split the work into child runs, or start another run.',
  },
  PLAN_VERSION_UNAVAILABLE: {
    httpStatus: 409,
    title: 'The plan version of the run is not deployed',
    help: 'Deploy that version again, or fork the run to a version that is deployed: a live run has to be cancelled first, without undo.',
  },
  PLAN_CHANGED: {
    httpStatus: 409,
    title: 'The workflow definition changed without a new version',
    help: 'Give the new definition the next planVersion and keep this version unchanged beside it, or deploy the original definition.',
  },
  EFFECT_REQUEST_MISMATCH: {
    httpStatus: 409,
    title: 'The effect is recorded with a different request',
    help: 'Fork the run if the new request is intended, or restore the original request.',
  },
  EFFECT_IN_DOUBT: {
    httpStatus: 409,
    title: 'The outcome of an effect is unknown',
    help: 'Check the receiver, then resolve the effect: record the result, allow one repetition, or fail it.',
  },
  EFFECT_RESOLVED: {
    httpStatus: 409,
    title: 'The effect is already resolved',
    help: 'Read the effects of the run: they show who resolved what, and the recorded result.',
  },
  APPROVAL_DECIDED: {
    httpStatus: 409,
    title: 'The approval was already decided differently',
    help: 'Read the run: it shows who decided what.',
  },
  APPROVAL_EXPIRED: {
    httpStatus: 410,
    title: 'The approval expired before the decision',
    help: 'Resume the run to open a new approval.',
  },
  SCHEDULE_DECLARED: {
    httpStatus: 409,
    title: 'The schedule is declared by a workflow',
    help: 'Change the workflow definition and deploy it. The API can pause, resume, trigger and backfill the schedule.',
  },
  PAYLOAD_TOO_LARGE: {
    httpStatus: 413,
    title: 'The payload is too large',
    help: 'Store large data elsewhere and pass a reference to it.',
  },
  INVALID_INPUT: {
    httpStatus: 400,
    title: 'The input is not valid',
    help: 'Correct the named field and send the request again.',
  },
  UNAUTHENTICATED: {
    httpStatus: 401,
    title: 'Missing or invalid credentials',
    help: 'Send `Authorization: Bearer` with an API key or an ID token.',
  },
  FORBIDDEN: {
    httpStatus: 403,
    title: 'Not allowed',
    help: 'Ask an administrator of the tenant for the required role.',
  },
  RATE_LIMITED: {
    httpStatus: 429,
    title: 'Too many requests',
    help: 'Wait for the time in `Retry-After` and try again.',
  },
  NOT_FOUND: { httpStatus: 404, title: 'No such resource', help: 'Check the path and the ids in it.' },
  METHOD_NOT_ALLOWED: {
    httpStatus: 405,
    title: 'The resource does not support this method',
    help: 'Use one of the methods in `Allow`.',
  },
  URI_TOO_LONG: {
    httpStatus: 414,
    title: 'Path and query are too long',
    help: 'Shorten the ids or parameters. Send large values in a body.',
  },
  HEADERS_TOO_LARGE: {
    httpStatus: 431,
    title: 'The headers are too many or too large',
    help: 'Omit headers and cookies that the request does not need.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    httpStatus: 415,
    title: 'The content type is not supported',
    help: 'Send `Content-Type: application/json`.',
  },
  UNAVAILABLE: {
    httpStatus: 503,
    title: 'The service is temporarily unavailable',
    help: 'Wait for the time in `Retry-After` and send the same request again.',
  },
  DATA_DAMAGED: {
    httpStatus: 500,
    title: 'A stored document cannot be read',
    help: 'Check the run (GET /v1/runs/{id}/consistency): the check works on damaged runs, names the problems, and says whether a repair fixes them.',
  },
  STORE_REFUSED: {
    httpStatus: 500,
    title: 'The store refuses an operation of the request',
    help: 'Nothing was written. Make the request smaller if it is large; otherwise report it with the log entry.',
  },
  INTERNAL: {
    httpStatus: 500,
    title: 'Internal error',
    help: 'Send the same request with the same idempotency key again. It is not performed twice.',
  },
} as const satisfies Record<string, CodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;

interface CairnErrorOptions {
  /** The field of the request, or the header, at fault. */
  readonly field?: string | undefined;
  readonly stepId?: string | undefined;
  /** More precise advice that replaces the general one of the code. */
  readonly help?: string | undefined;
  /** Facts for programs, for example the id of the conflicting run. Sent to the caller: nothing secret. */
  readonly details?: Readonly<Record<string, Json | undefined>> | undefined;
  /** For the log only. */
  readonly cause?: unknown;
}

/** An error whose code, message and options are written for the caller and may be shown to them. */
export class CairnError extends Error {
  override readonly name = 'CairnError';
  readonly code: ErrorCode;
  readonly httpStatus: number;
  readonly field: string | undefined;
  readonly stepId: string | undefined;
  readonly help: string;
  readonly details: Readonly<Record<string, Json | undefined>> | undefined;

  constructor(code: ErrorCode, message: string, options: CairnErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.httpStatus = ERROR_CODES[code].httpStatus;
    this.field = options.field;
    this.stepId = options.stepId;
    this.help = options.help ?? ERROR_CODES[code].help;
    this.details = options.details;
  }
}

/** INVALID_INPUT: a member, parameter or option is at fault. */
export function invalidInput(
  field: string,
  message: string,
  more?: Omit<CairnErrorOptions, 'field'>,
): CairnError {
  return new CairnError('INVALID_INPUT', message, { ...more, field });
}

/** Body of an `application/problem+json` answer (RFC 9457) with our members `code`, `field`, `stepId`, `help`, `details`. */
export interface ProblemJson {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly field?: string | undefined;
  readonly stepId?: string | undefined;
  readonly help: string;
  readonly details?: Readonly<Record<string, Json | undefined>> | undefined;
}

/** The answer for any thrown value. Anything but a {@link CairnError} becomes `INTERNAL` without its cause. */
export function toProblem(error: unknown): ProblemJson {
  const known =
    error instanceof CairnError
      ? error
      : new CairnError('INTERNAL', 'The request could not be completed because of an unexpected error.');
  return {
    type: `urn:cairn:problem:${known.code}`,
    title: ERROR_CODES[known.code].title,
    status: known.httpStatus,
    detail: known.message,
    code: known.code,
    ...(known.field === undefined ? {} : { field: known.field }),
    ...(known.stepId === undefined ? {} : { stepId: known.stepId }),
    help: known.help,
    ...(known.details === undefined ? {} : { details: known.details }),
  };
}

/**
 * Thrown by a step body: a retry is pointless. The engine makes no further attempt; the step fails and its `onFailure`
 * applies.
 */
export class Fatal extends Error {
  override readonly name = 'Fatal';
}

/**
 * Thrown by a step body: retry at exactly that time, instead of the policy's backoff (e.g. from a `Retry-After`). The engine
 * counts the attempt; when it was the last one, the step fails. In a step that polls (`poll`) it means "not yet" instead, and
 * no attempt is counted.
 */
export class RetryAt extends Error {
  override readonly name = 'RetryAt';
  /** Epoch milliseconds. A time in the past means immediately. */
  readonly at: number;

  constructor(at: number | Date, message = 'asked to be retried later', options?: ErrorOptions) {
    super(message, options);
    const time = typeof at === 'number' ? at : at.getTime();
    if (!Number.isFinite(time) || time > MAX_TIME)
      throw new RangeError('RetryAt needs a valid time, before the year 10000');
    this.at = time;
  }
}

interface NotAppliedOptions extends ErrorOptions {
  /** Time of the next attempt that the receiver asks for: epoch ms or a date, e.g. from a `Retry-After`. */
  readonly retryAt?: number | Date;
  /** The receiver will refuse the same request every time: the step fails without another attempt. */
  readonly final?: boolean;
}

/**
 * Thrown by a binding: the call certainly did not take effect. The engine records the effect as `failed` and may retry.
 * Any other error leaves the effect in doubt.
 */
export class NotApplied extends Error {
  override readonly name = 'NotApplied';
  /** Epoch ms. */
  readonly retryAt: number | undefined;
  readonly final: boolean;

  constructor(message: string, { retryAt, final = false, ...options }: NotAppliedOptions = {}) {
    super(message, options);
    this.retryAt = retryAt instanceof Date ? retryAt.getTime() : retryAt;
    this.final = final;
  }
}

/**
 * Thrown into the code of a flow: an operation failed for good. The same error is thrown each time the code runs again. A flow
 * that does not catch it fails with its code.
 */
export class OperationFailed extends Fatal {
  /** Code of the failure: `STEP_FAILED`, `STEP_TIMEOUT`, `APPROVAL_REJECTED`, `CHILD_FAILED` … */
  readonly code: string;
  /** Name of the operation, with its number. */
  readonly operation: string;

  constructor(operation: string, code: string, message: string) {
    super(message);
    this.operation = operation;
    this.code = code;
  }
}
