/** Reason why a request failed: the API refused it, or there was no response. */
import type { Reply } from './transport.ts';
import { readablePage } from './web-page.ts';

/** Members of a problem document, also of another server. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly field?: string;
  readonly stepId?: string;
  readonly help?: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** A response without success. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly problem: Problem;
  /** The idempotency key of the request, if it had one. */
  readonly key: string | undefined;

  constructor(problem: Problem, key: string | undefined) {
    super(`${problem.code}: ${problem.detail ?? problem.title}`);
    this.problem = problem;
    this.key = key;
  }
}

/** Status for: no response. */
const NOBODY = 0;
/** The same request is in progress. */
const UNDER_WAY = 202;
const IN_FLIGHT = 'in_flight';

/** The outcome of the request is unknown. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  readonly key: string | undefined;
  /** 202: the same request is in progress. */
  readonly status: typeof NOBODY | typeof UNDER_WAY;
  /** False if no connection was made, so the server received nothing. */
  readonly wasSent: boolean;

  constructor(
    message: string,
    key: string | undefined,
    cause?: unknown,
    status: 0 | 202 = NOBODY,
    wasSent = true,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.key = key;
    this.status = status;
    this.wasSent = wasSent;
  }
}

const TEXT_CHARS = 300;

/** @param text of the body; from that of a proxy the readable part is shown */
export function problemOf(status: number, text: string): Problem {
  const read = objectOf(text);
  if (typeof read?.code === 'string' && typeof read.title === 'string')
    return { ...read, status } as unknown as Problem;
  return {
    status,
    code: `HTTP_${status}`,
    title: 'The response is not from the Cairn API',
    detail: text.trim() === '' ? undefined : readablePart(text).slice(0, TEXT_CHARS),
    help: 'Check the URL: use the URL of the site, without a path.',
  };
}

/** True for a web page with a success status, such as the sign-in page of a network. */
export function isPageInPlace({ status, headers }: Pick<Reply, 'status' | 'headers'>): boolean {
  return status >= 200 && status < 300 && /^text\/html\b/i.test(headers.get('content-type') ?? '');
}

function readablePart(text: string): string {
  const page = readablePage(text);
  return page === undefined ? text : `a web page: ${page}`;
}

/** True if the outcome is still unknown. A deferred request, such as an erasure, also answers 202, but with a body. */
export function isInFlight(status: number, text: string): boolean {
  if (status !== UNDER_WAY) return false;
  const body = objectOf(text);
  return body === undefined || body.status === IN_FLIGHT;
}

/** True if the same request may succeed later: in progress, rate limited, or temporarily unavailable. */
export function isPassing({ status, code }: Pick<Problem, 'status' | 'code'>): boolean {
  if (code === 'DATA_DAMAGED') return false;
  return status === NOBODY || status === UNDER_WAY || status === 429 || status >= 500;
}

/** Time after which to retry, ms; undefined if the API names none. */
export function retryAfterMs({ details }: Pick<Problem, 'details'>): number | undefined {
  const seconds = details?.retryAfterSeconds;
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : undefined;
}

/** True if the request may have been carried out. Only a repetition with the same key tells. */
export function isUncertain(error: unknown): error is Refusal | Unreachable {
  if (error instanceof Unreachable) return error.wasSent;
  return error instanceof Refusal && error.problem.status >= 500;
}

/** System calls that fail before anything is sent. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

/** True if `fetch` is known to have made no connection. Browsers do not report it. */
export function failedToConnect(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // All addresses of a name were tried.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(failedToConnect);
  return BEFORE_SENDING.has((error as { syscall?: unknown }).syscall) || failedToConnect(error.cause);
}

/** The network error without the wrapping of `fetch`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? reasonOf(cause) : error.message;
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
