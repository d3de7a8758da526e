/** Checks the options of one step of each kind, and completes them from the defaults. */
import { type Completion, MAX_ITEMS } from '../../core/decisions/fan-out.ts';
import { retryPolicy } from '../../core/decisions/retry.ts';
import { parseDuration } from '../../core/duration.ts';
import { toJsonText } from '../../core/encoding/json.ts';
import { CairnError, Fatal } from '../../core/errors.ts';
import { LONGEST_STEP_MS, PRODUCTION_SETTINGS } from '../settings.ts';
import type * as steps from './steps.ts';
import type * as types from './types.ts';

/** Options as they come: the compiler has checked those of TypeScript callers, and knows no others. */
export type Given = Readonly<Record<string, unknown>>;

export interface StepName {
  /** Of the workflow. */
  readonly type: string;
  readonly id: string;
}

/** Names a body's context has of its own; a need must not hide one. */
const RESERVED = new Set([
  'input',
  'runId',
  'stepId',
  'attempt',
  'revision',
  'feedback',
  'signal',
  'progress',
  'heartbeat',
  'memo',
  'usage',
  'log',
  'item',
  'index',
  'output',
  'perform',
]);
const DEFAULT_CONCURRENCY = 8;
const MAX_EVENT_NAME = 100;
const MAX_ESCALATION_CHARS = 1_000;

export function plainStep(name: StepName, options: Given, body: unknown): steps.PlainStep {
  return { kind: 'step', ...common(name, options), ...bodyPart(name, options, body) };
}

export function mapStep(name: StepName, options: Given, body: unknown): steps.MapStep {
  return {
    kind: 'map',
    ...common(name, options),
    ...bodyPart(name, options, body),
    fanOut: fanOut(name, options),
  };
}

export function approvalStep(name: StepName, options: Given): steps.ApprovalStep {
  const { onExpiry, escalate } = options as Partial<types.ApprovalOptions<unknown, types.Needs>>;
  if (escalate && escalate.text.length > MAX_ESCALATION_CHARS) {
    throw stepError(name, `the text of an escalation may have ${MAX_ESCALATION_CHARS} characters`);
  }
  return {
    kind: 'approval',
    ...common(name, options),
    ask: required(name, options, 'ask'),
    onExpiry: onExpiry ?? 'fail',
    ...timeout(name, options),
    ...(escalate
      ? {
          escalate: {
            afterMs: parseDuration(escalate.after, `${name.id}.escalate.after`),
            text: escalate.text,
          },
        }
      : {}),
  };
}

export function eventStep(name: StepName, options: Given): steps.EventStep {
  const { event, output } = options as Partial<types.EventOptions<unknown, types.Needs, unknown>>;
  if (typeof event !== 'string' || event === '' || event.length > MAX_EVENT_NAME) {
    throw stepError(name, `'event' names what it waits for, in 1 to ${MAX_EVENT_NAME} characters`);
  }
  return {
    kind: 'event',
    ...common(name, options),
    event,
    key: required(name, options, 'key'),
    ...timeout(name, options),
    ...(output ? { output } : {}),
  };
}

export function sleepStep(name: StepName, options: Given): steps.SleepStep {
  const given = options as types.SleepOptions<unknown, types.Needs>;
  if ((given.for === undefined) === (given.until === undefined)) {
    throw stepError(name, `a sleep has either 'for' or 'until'`);
  }
  // A fixed duration that is none is said now, not when a run first comes to it.
  if (given.for !== undefined && typeof given.for !== 'function') parseDuration(given.for, `${name.id}.for`);
  return {
    kind: 'sleep',
    ...common(name, options),
    dueAt: (context, now) => sleepEnd(given, context, now),
  };
}

export function childStep(name: StepName, options: Given): steps.ChildStep {
  const { workflow, onParentEnd } = options as Partial<types.ChildOptions<unknown, types.Needs, unknown>>;
  if (workflow === undefined) throw stepError(name, `'workflow' says what the child runs`);
  return {
    kind: 'child',
    ...common(name, options),
    workflow: typeof workflow === 'string' ? workflow : workflow.type,
    input: required(name, options, 'input'),
    onParentEnd: onParentEnd ?? 'cancel',
    ...timeout(name, options),
    ...(options.over === undefined ? {} : { fanOut: fanOut(name, options) }),
  };
}

export function handleIds(handles: Readonly<Record<string, types.Handle<unknown>>>): Record<string, string> {
  return Object.fromEntries(Object.entries(handles).map(([name, handle]) => [name, handle.id]));
}

export function invalid(type: string, field: string, message: string): CairnError {
  return new CairnError('INVALID_INPUT', `workflow '${type}': ${message}`, { field });
}

function common(name: StepName, options: Given) {
  const { needs, when, ifSkipped, idempotent, resumable, onFailure } = options as types.StepOptions<
    unknown,
    types.Needs,
    unknown
  >;
  return {
    id: name.id,
    needs: needIds(name, needs),
    ifSkipped: ifSkipped ?? ('skip' as const),
    idempotent: idempotent ?? true,
    resumable: resumable ?? true,
    onFailure: failurePolicy(name, onFailure),
    ...(when ? { when: when as (context: steps.Context) => boolean } : {}),
  };
}

function bodyPart(name: StepName, options: Given, body: unknown) {
  if (typeof body !== 'function') throw stepError(name, 'has no body');
  const given = options as types.StepOptions<unknown, types.Needs, unknown>;
  const timeoutMs = parseDuration(given.timeout ?? PRODUCTION_SETTINGS.stepTimeoutMs, `${name.id}.timeout`);
  if (timeoutMs > LONGEST_STEP_MS) {
    throw stepError(
      name,
      `a timeout of ${timeoutMs} ms does not fit one drive; the longest is ${LONGEST_STEP_MS} ms`,
    );
  }
  const { perError = [], ...policy } = given.retry ?? {};
  const retry = retryPolicy(policy);
  return {
    retry,
    retryPerError: perError.map(({ match, ...own }) => ({
      match,
      policy: retryPolicy({ ...retry, ...own }),
    })),
    timeoutMs,
    body: body as steps.PlainStep['body'],
    ...(given.heartbeatTimeout === undefined
      ? {}
      : { heartbeatTimeoutMs: parseDuration(given.heartbeatTimeout, `${name.id}.heartbeatTimeout`) }),
    ...(given.output ? { output: given.output } : {}),
    ...(given.policy ? { policy: given.policy as steps.AnyPolicy } : {}),
    ...(given.compensate ? { compensate: given.compensate as (context: steps.Context) => unknown } : {}),
  };
}

function fanOut(name: StepName, options: Given): steps.FanOut {
  const { concurrency = DEFAULT_CONCURRENCY, completion } = options as {
    concurrency?: number;
    completion?: types.Completion;
  };
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw stepError(name, `'concurrency' must be a whole number from 1`);
  }
  return { over: required(name, options, 'over'), concurrency, completion: completionOf(name, completion) };
}

function completionOf(name: StepName, given: types.Completion | undefined): Completion {
  if (given === undefined) return { kind: 'all' };
  if ('atLeast' in given) return { kind: 'at_least', successes: count(name, 'atLeast', given.atLeast) };
  if (typeof given.tolerate === 'number') {
    return { kind: 'tolerate', failures: count(name, 'tolerate', given.tolerate) };
  }
  const [, share] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(given.tolerate) ?? [];
  const percent = Number(share);
  if (share === undefined || percent > 100) {
    throw stepError(name, `'tolerate' must be a count, or a share like '10%'`);
  }
  return { kind: 'share', percent };
}

function count(name: StepName, option: string, given: number): number {
  if (Number.isSafeInteger(given) && given >= 0 && given <= MAX_ITEMS) return given;
  throw stepError(name, `'${option}' must be a whole number from 0 to ${MAX_ITEMS}`);
}

function failurePolicy(name: StepName, given: types.OnFailure<unknown> = 'fail'): steps.FailurePolicy {
  if (given === 'fail' || given === 'skip') return { kind: given };
  if (typeof given !== 'object' || given === null || !('degradeTo' in given)) {
    throw stepError(name, `'onFailure' is 'fail', 'skip' or { degradeTo: value }`);
  }
  return { kind: 'degrade', text: toJsonText(given.degradeTo, `${name.id}.onFailure.degradeTo`) };
}

function timeout(name: StepName, { timeout }: Given): { timeoutMs?: number } {
  if (timeout === undefined) return {};
  return { timeoutMs: parseDuration(timeout as string | number, `${name.id}.timeout`) };
}

function required<T>(name: StepName, options: Given, option: string): T {
  if (typeof options[option] !== 'function') throw stepError(name, `needs the function '${option}'`);
  return options[option] as T;
}

function needIds(name: StepName, given: types.Needs = {}): Record<string, string> {
  const needs = handleIds(given);
  for (const need of Object.keys(needs)) {
    if (RESERVED.has(need))
      throw stepError(name, `a need cannot be called '${need}', the body has that already`);
  }
  return needs;
}

function sleepEnd(
  options: types.SleepOptions<unknown, types.Needs>,
  context: steps.Context,
  now: number,
): number {
  const seen = context as never;
  if (options.for !== undefined) {
    const duration = typeof options.for === 'function' ? options.for(seen) : options.for;
    return now + parseDuration(duration, 'for');
  }
  const until = typeof options.until === 'function' ? options.until(seen) : options.until;
  const at = until instanceof Date ? until.getTime() : until;
  if (typeof at !== 'number' || !Number.isFinite(at)) throw new Fatal(`'until' is no time: ${String(until)}`);
  return Math.round(at);
}

function stepError({ type, id }: StepName, problem: string): CairnError {
  return invalid(type, id, `step '${id}': ${problem}`);
}
