/** What goes wrong when the API is asked, as the API says it (`application/problem+json`) or as the browser does. */

export interface Problem {
  readonly status: number;
  /** Stable; `UNREACHABLE` where nobody answered. */
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** What to do next. */
  readonly help?: string | undefined;
  readonly field?: string | undefined;
  /** Said by the API where it is asked too often. */
  readonly retryAfterMs?: number | undefined;
}

export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.name = 'ApiError';
    this.problem = problem;
  }
}

/** Read from an answer that is no success. What is no problem document is told by its status. */
export function problemOf(status: number, text: string): Problem {
  const said = parsed(text);
  const word = (name: string) => (typeof said[name] === 'string' ? said[name] : undefined);
  return {
    status,
    code: word('code') ?? `HTTP_${status}`,
    title: word('title') ?? `The API answered ${status}`,
    detail: word('detail') ?? '',
    help: word('help'),
    field: word('field'),
    retryAfterMs: retryAfterMs(said.details),
  };
}

function retryAfterMs(details: unknown): number | undefined {
  if (typeof details !== 'object' || details === null || !('retryAfterSeconds' in details)) return undefined;
  const { retryAfterSeconds: seconds } = details;
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : undefined;
}

export function unreachable(error: unknown): ApiError {
  const said = error instanceof Error ? error.message : String(error);
  return new ApiError({
    status: 0,
    code: 'UNREACHABLE',
    title: 'The API does not answer',
    detail: `Nothing came back (${said}).`,
    help: 'Check the network. On your machine: is `npm start` still running?',
  });
}

/** Whether the same question may be answered in a while. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { status, code } = error.problem;
  if (code === 'DATA_DAMAGED') return false;
  return status === 0 || status === 202 || status === 429 || status >= 500;
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
