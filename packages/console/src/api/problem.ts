/** Errors of requests: problem documents of the API (`application/problem+json`) and network errors. */
import {
  isPassing as isPassingProblem,
  Refusal,
  problemOf as readProblem,
  retryAfterMs,
  Unreachable,
} from '@cairn/client';

interface ShownProblem {
  readonly status: number;
  /** Stable; `UNREACHABLE` without an answer. */
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly help?: string | undefined;
  readonly field?: string | undefined;
  /** Set by the API on rate limits. */
  readonly retryAfterMs?: number | undefined;
}

export class ApiError extends Error {
  readonly problem: ShownProblem;

  constructor(problem: ShownProblem) {
    super(problem.detail || problem.title);
    this.name = 'ApiError';
    this.problem = problem;
  }
}

/** Help for an answer that is not from the API. It must not advise to correct the address, which is the page's own. */
const NOT_OF_API =
  'Something between this page and the API answered. Try again in a moment. If it stays, check the function api.';

const SERVER_ERROR = 500;

/** The function answers so itself if it cannot begin, as with a workflow that is not valid. */
const FAILED_AT_START =
  'The function api failed before it could answer, or something between this page and the API did. If it stays, read the log of the function api.';

/** The problem of an unsuccessful answer. Without a problem document it is made from the status. */
export function problemOf(status: number, text: string): ShownProblem {
  return shownOf(readProblem(status, text));
}

function shownOf({ detail = '', details, ...problem }: Refusal['problem']): ShownProblem {
  const isOfApi = problem.code !== `HTTP_${problem.status}`;
  return {
    ...problem,
    ...(!isOfApi && { help: problem.status === SERVER_ERROR ? FAILED_AT_START : NOT_OF_API }),
    detail,
    retryAfterMs: retryAfterMs({ details }),
  };
}

/** The refusal of the API, if the error is one. */
export function refusalOf(error: unknown): ShownProblem | undefined {
  return error instanceof ApiError ? error.problem : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function unreachable(error: unknown): ApiError {
  return new ApiError({
    status: 0,
    code: 'UNREACHABLE',
    title: 'The API does not respond',
    detail: `No response (${messageOf(error)}).`,
    help: 'Check the network. On your machine, check that the local cloud (npx cairn dev, npm start) is running.',
  });
}

const UNDER_WAY = new ApiError({
  status: 202,
  code: 'REQUEST_IN_FLIGHT',
  title: 'The same request is already in progress',
  detail: 'Its outcome is not known yet.',
  help: 'Send it again in a moment.',
});

/** A change whose credential was refused or replaced. */
export const NOT_SENT = new ApiError({
  status: 401,
  code: 'UNAUTHENTICATED',
  title: 'Not done: the key or sign-in is no longer accepted',
  detail: 'Send it again once you are signed in.',
});

/** A change whose credential was refused or replaced after an attempt that got no answer. */
export const OUTCOME_UNKNOWN = new ApiError({
  status: 0,
  code: 'UNREACHABLE',
  title: 'It is not known whether this was done',
  detail: 'The API did not answer before the key or sign-in expired.',
  help: 'Check whether it was done before you send it again.',
});

export function isSignedOut(error: unknown): boolean {
  return refusalOf(error)?.status === 401;
}

/** An error of the client, as pages show it; other errors as they are. */
export function shownError(error: unknown): unknown {
  if (error instanceof Refusal) return new ApiError(shownOf(error.problem));
  if (!(error instanceof Unreachable)) return error;
  return error.status === 202 ? UNDER_WAY : unreachable(error.cause ?? error);
}

/** True if the request got no answer, so that nobody knows whether it was carried out. */
export function isUnanswered(error: unknown): boolean {
  return refusalOf(error)?.code === 'UNREACHABLE';
}

/** True if a repetition may succeed later. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && isPassingProblem(error.problem);
}
