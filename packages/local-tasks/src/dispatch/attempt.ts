/**
 * The HTTP request of one attempt of a task, and the meaning of its response. Pure. The headers are those that a handler
 * receives from Cloud Tasks.
 */
import { status } from '@grpc/grpc-js';
import type { AttemptStart, TaskProgress, TaskRecord } from '../model.ts';
import { HTTP_AGENT } from '../target.ts';

/** A request to send. Unlike in production, redirects are not followed. */
export interface DispatchRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborted when the dispatch deadline passes or the server stops. */
  readonly signal: AbortSignal;
}

export type DispatchResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: 'unreachable'; readonly reason: string }
  | { readonly kind: 'deadline-exceeded' };

/** Sends the request; settles when the response is complete. Must not throw. */
export type Dispatch = (request: DispatchRequest) => Promise<DispatchResult>;

/** A request that cannot be formed is a failed attempt, not an error of the server. */
export const unsendable = (error: unknown): DispatchResult => ({
  kind: 'unreachable',
  reason: error instanceof Error ? error.message : String(error),
});

/** Headers of a connection, which only the sender of a request sets. */
export const HOP_BY_HOP = /^(connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

/** Set by Cloud Tasks, so that tasks cannot forge them. */
const RESERVED = /^(host|content-length|user-agent|x-google-.*|x-appengine-.*|x-cloudtasks-.*)$/i;

const TOKEN_LIFE_S = 3600;

export function requestFor(task: TaskRecord, now: number): Omit<DispatchRequest, 'signal'> {
  const { target, progress } = task;
  const { oidc, oauth, appEngine } = target;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(target.headers)) {
    const isOverridden = (oidc ?? oauth) !== undefined && /^authorization$/i.test(name);
    const isOwn = RESERVED.test(name) || HOP_BY_HOP.test(name);
    if (!isOverridden && (!isOwn || (appEngine && /^user-agent$/i.test(name)))) headers[name] = value;
  }
  if (!appEngine) headers['User-Agent'] = HTTP_AGENT;
  const about = appEngine ? 'X-AppEngine' : 'X-CloudTasks';
  headers[`${about}-QueueName`] = lastSegment(task.queue);
  headers[`${about}-TaskName`] = lastSegment(task.name);
  headers[`${about}-TaskRetryCount`] = String(progress.dispatchCount);
  // App Engine counts every answer, also 5XX.
  headers[`${about}-TaskExecutionCount`] = String(
    appEngine ? progress.responseCount : progress.executionCount,
  );
  headers[`${about}-TaskETA`] = (task.scheduledAt / 1000).toFixed(6);
  if (progress.dispatchCount > 0) {
    const retry = aboutRetry(progress.previousResponse, appEngine !== undefined);
    headers[`${about}-TaskPreviousResponse`] = String(retry.previous);
    headers[`${about}-TaskRetryReason`] = retry.reason;
  }
  if (oidc) headers.Authorization = `Bearer ${identityToken(oidc, now)}`;
  if (oauth) headers.Authorization = `Bearer ${accessToken(oauth)}`;
  return { url: target.url, method: target.method, headers, body: target.body };
}

/** As in production: only App Engine gets a reason, and an attempt without an answer counts as 504, for App Engine as 0. */
function aboutRetry(status: number | undefined, isAppEngine: boolean): { previous: number; reason: string } {
  if (!isAppEngine) return { previous: status ?? 504, reason: '' };
  return status === undefined
    ? { previous: 0, reason: 'Instance Unavailable' }
    : { previous: status, reason: 'App Error' };
}

/** Contains the account and scope; Google's APIs do not accept it. */
function accessToken(oauth: { serviceAccountEmail: string; scope: string }): string {
  return `local.${Buffer.from(JSON.stringify(oauth)).toString('base64url')}`;
}

/**
 * A token with Google's claims but without a signature (`alg: none`). A handler that verifies tokens refuses it, as it should refuse
 * an unverified local caller.
 */
export function identityToken(oidc: { serviceAccountEmail: string; audience: string }, now: number): string {
  const issued = Math.floor(now / 1000);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    iss: 'https://accounts.google.com',
    aud: oidc.audience,
    azp: oidc.serviceAccountEmail,
    sub: oidc.serviceAccountEmail,
    email: oidc.serviceAccountEmail,
    email_verified: true,
    iat: issued,
    exp: issued + TOKEN_LIFE_S,
  };
  return `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`;
}

export interface AttemptTimes extends AttemptStart {
  readonly respondedAt: number;
}

export const isSuccess = (outcome: DispatchResult): boolean =>
  outcome.kind === 'answered' && outcome.status >= 200 && outcome.status <= 299;

/** The task's progress after one more attempt with this outcome. */
export function progressAfter(
  before: TaskProgress,
  outcome: DispatchResult,
  times: AttemptTimes,
): TaskProgress {
  const answered = outcome.kind === 'answered';
  const executed = answered && outcome.status < 500;
  const { code, message } = rpcStatus(outcome);
  const record = {
    scheduledAt: times.scheduledAt,
    dispatchedAt: times.dispatchedAt,
    respondedAt: answered ? times.respondedAt : undefined,
    code,
    message,
  };
  return {
    dispatchCount: before.dispatchCount + 1,
    responseCount: before.responseCount + (answered ? 1 : 0),
    executionCount: before.executionCount + (executed ? 1 : 0),
    first: before.first ?? record,
    last: record,
    previousResponse: answered ? outcome.status : undefined,
  };
}

/** The task for responses while attempts run: they are counted, and the latest is its last attempt. */
export function withRunning(task: TaskRecord, running: readonly AttemptStart[]): TaskRecord {
  const [oldest] = running;
  if (oldest === undefined) return task;
  const unanswered = { respondedAt: undefined, code: undefined, message: '' };
  const { progress } = task;
  return {
    ...task,
    progress: {
      ...progress,
      dispatchCount: progress.dispatchCount + running.length,
      first: progress.first ?? { ...oldest, ...unanswered },
      last: { ...(running.at(-1) ?? oldest), ...unanswered },
    },
  };
}

/** `Retry-After` in milliseconds from now: seconds or an HTTP date; anything else is ignored. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** `google.rpc.Code` by HTTP status, as listed in google/rpc/code.proto; others are UNKNOWN (2). */
const RPC_CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 10,
  429: 8,
  499: 1,
  500: 13,
  501: 12,
  503: 14,
  504: 4,
};

function rpcStatus(outcome: DispatchResult): { code: number; message: string } {
  switch (outcome.kind) {
    case 'answered':
      return isSuccess(outcome) ? { code: 0, message: '' } : statusOf(outcome.status);
    case 'unreachable':
      return { code: 14, message: `UNAVAILABLE(14): ${visible(outcome.reason)}` };
    case 'deadline-exceeded':
      return { code: 4, message: 'DEADLINE_EXCEEDED(4)' };
  }
}

function statusOf(httpStatus: number): { code: number; message: string } {
  const code = RPC_CODES[httpStatus] ?? status.UNKNOWN;
  return { code, message: `${status[code]}(${code}): HTTP status code ${httpStatus}` };
}

/** In visible ASCII, and not long. */
const visible = (text: string) => text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 200);

const lastSegment = (name: string) => name.slice(name.lastIndexOf('/') + 1);
