/** Makes one step of each kind from its options, and checks the options that only this kind has. */

import { parseDuration } from '../../core/duration.ts';
import { Fatal } from '../../core/errors.ts';
import { MAX_EVENT_NAME_CHARS } from '../../core/mailbox/limits.ts';
import { MIN_WAIT_HEARTBEAT_MS } from '../../core/run/heartbeat.ts';
import { MAX_TIME } from '../../core/time.ts';
import {
  bodyPart,
  common,
  durationOf,
  required,
  type StepName,
  setRules,
  stepError,
  timeout,
  type UncheckedOptions,
} from './step-options.ts';
import type * as steps from './steps.ts';
import type * as types from './types.ts';

const MAX_ESCALATION_CHARS = 1_000;

export function plainStep(name: StepName, options: UncheckedOptions, body: unknown): steps.PlainStep {
  return { ...common('step', name, options), ...bodyPart(name, options, body) };
}

export function mapStep(name: StepName, options: UncheckedOptions, body: unknown): steps.MapStep {
  return {
    ...common('map', name, options),
    ...bodyPart(name, options, body),
    set: setRules(name, options),
  };
}

export function approvalStep(name: StepName, options: UncheckedOptions): steps.ApprovalStep {
  const shared = common('approval', name, options);
  const { onExpiry, escalate, data } = options as Partial<
    types.ApprovalOptions<unknown, types.Needs, unknown>
  >;
  if (data && onExpiry === 'approve') {
    throw stepError(
      name,
      "'data' cannot be combined with onExpiry: 'approve', which fills in nothing: use 'fail' or 'halt'",
    );
  }
  if (escalate && escalate.text.length > MAX_ESCALATION_CHARS) {
    throw stepError(name, `the text of an escalation has at most ${MAX_ESCALATION_CHARS} characters`);
  }
  return {
    ...shared,
    ask: required(name, options, 'ask'),
    ...(data ? { data } : {}),
    onExpiry: onExpiry ?? 'fail',
    ...timeout(name, options),
    ...(escalate
      ? {
          escalate: { afterMs: durationOf(name, 'escalate.after', escalate.after), text: escalate.text },
        }
      : {}),
  };
}

export function eventStep(name: StepName, options: UncheckedOptions): steps.EventStep {
  const { event, output, expected, heartbeat } = options as Partial<
    types.EventOptions<unknown, types.Needs, unknown>
  >;
  if (
    typeof event !== 'string' ||
    event === '' ||
    event.length > MAX_EVENT_NAME_CHARS ||
    !event.isWellFormed()
  ) {
    throw stepError(name, `'event' must be 1 to ${MAX_EVENT_NAME_CHARS} characters of well-formed text`);
  }
  return {
    ...common('event', name, options),
    event,
    key: required(name, options, 'key'),
    ...timeout(name, options),
    ...(expected === undefined ? {} : { expectedMs: durationOf(name, 'expected', expected) }),
    ...(heartbeat === undefined ? {} : { heartbeatMs: heartbeatMs(name, heartbeat.within) }),
    ...(output ? { output } : {}),
  };
}

function heartbeatMs(name: StepName, within: string | number): number {
  const ms = durationOf(name, 'heartbeat.within', within);
  if (ms >= MIN_WAIT_HEARTBEAT_MS) return ms;
  throw stepError(name, `'heartbeat.within' must be at least ${MIN_WAIT_HEARTBEAT_MS} ms`);
}

export function sleepStep(name: StepName, options: UncheckedOptions): steps.SleepStep {
  const given = options as types.SleepOptions<unknown, types.Needs>;
  if ((given.for === undefined) === (given.until === undefined)) {
    throw stepError(name, `a sleep needs either 'for' or 'until'`);
  }
  // An invalid fixed duration is reported at load, not when a run reaches the step.
  if (given.for !== undefined && typeof given.for !== 'function') durationOf(name, 'for', given.for);
  return { ...common('sleep', name, options), dueAt: (context, now) => sleepEnd(given, context, now) };
}

export function childStep(name: StepName, options: UncheckedOptions): steps.ChildStep {
  const { workflow, onParentEnd } = options as Partial<types.ChildOptions<unknown, types.Needs, unknown>>;
  if (onParentEnd === 'wait' && options.timeout !== undefined) {
    throw stepError(
      name,
      `'timeout' cannot be combined with onParentEnd: 'wait', which waits for the child to end: give the child's workflow a 'timeout'`,
    );
  }
  if (workflow === undefined) throw stepError(name, `'workflow' must name the workflow of the child run`);
  return {
    ...common('child', name, options),
    workflow: typeof workflow === 'string' ? workflow : workflow.type,
    input: required(name, options, 'input'),
    onParentEnd: onParentEnd ?? 'cancel',
    ...timeout(name, options),
    ...(options.over === undefined ? {} : { set: setRules(name, options) }),
  };
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
  if (typeof at !== 'number' || !Number.isFinite(at) || at > MAX_TIME) {
    throw new Fatal(`'until' must be a time before the year 10000, not ${String(until)}`);
  }
  return Math.round(at);
}
