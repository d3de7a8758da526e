/**
 * Assertions on a journal. Independent of test frameworks: a failed assertion throws an error whose message shows the
 * journal.
 */
import { type Decision, type EventType, isSettled, type RunEvent, type StepRef } from '../core/run/events.ts';
import { stepKey } from '../core/run/state.ts';
import { timelineOf } from './timeline.ts';

export class JournalMismatch extends Error {
  override readonly name = 'JournalMismatch';
}

type ExpectedEnding = 'completed' | 'failed' | 'cancelled';

/** Expectations can be chained. A step is named by its id, an item of a map by `id[3]`. */
export interface JournalExpectations {
  /** The body of the step ran and the step ended; with `times`: after exactly this many recorded attempts, over all revisions. */
  toHaveRun(step: string, times?: number): JournalExpectations;
  /** No attempt of the step was recorded, not even a failed one. */
  notToHaveRun(step: string): JournalExpectations;
  toHaveSkipped(step: string): JournalExpectations;
  toHaveDegraded(step: string): JournalExpectations;
  toHaveFailed(step: string, code?: string): JournalExpectations;
  /** These steps ended in this order; others may have ended before, between and after them. */
  toHaveEndedInOrder(...steps: string[]): JournalExpectations;
  /** Exactly these steps were compensated, in this order. */
  toHaveCompensated(...steps: string[]): JournalExpectations;
  /** The last decision about the step was this one. */
  toHaveDecided(step: string, decision: Decision): JournalExpectations;
  /** The journal has an event of this type; with `times`: exactly this many. */
  toHave(type: EventType, times?: number): JournalExpectations;
  /** The run has ended with this status; `code`: the error code of a failed run. */
  toEndAs(status: ExpectedEnding, code?: string): JournalExpectations;
}

export function expectJournal(events: readonly RunEvent[]): JournalExpectations {
  const claims: Claims = claimsAbout(events);
  const expectations = {} as Record<keyof Claims, unknown>;
  for (const [name, problemOf] of Object.entries(claims) as [
    keyof Claims,
    (...args: unknown[]) => Problem,
  ][]) {
    expectations[name] = function expectation(...args: unknown[]) {
      const problem = problemOf(...args);
      if (problem === undefined) return expectations;
      const error = new JournalMismatch(`${problem}\n\n${timelineOf(events)}`);
      // Makes the test framework point at the line of the test.
      Error.captureStackTrace(error, expectation);
      throw error;
    };
  }
  return expectations as JournalExpectations;
}

/** Undefined if the journal is as expected. */
type Problem = string | undefined;

/** For each expectation, the function that checks it. */
type Claims = {
  readonly [K in keyof JournalExpectations]: (...args: Parameters<JournalExpectations[K]>) => Problem;
};

function claimsAbout(events: readonly RunEvent[]): Claims {
  const attemptsOf = (step: string) =>
    events.filter((event) => (isWork(event) || event.type === 'step_retry_scheduled') && about(event, step))
      .length;
  const settled = (step: string, type: EventType) =>
    events.filter((event) => event.type === type && about(event, step));
  const outcomeOf = (step: string) => {
    const end = events.findLast((event) => isSettled(event) && about(event, step));
    return end ? `its end was ${end.type}` : 'it has not ended';
  };
  const unlessSettled = (step: string, type: EventType, expected: string): Problem =>
    settled(step, type).length > 0
      ? undefined
      : `step '${step}' was expected to be ${expected}; ${outcomeOf(step)}`;

  return {
    toHaveRun(step, times) {
      const attempts = attemptsOf(step);
      const done = events.some((event) => isWork(event) && about(event, step));
      if (done && (times === undefined || attempts === times)) return undefined;
      const wanted = times === undefined ? '' : ` with ${count(times, 'attempt')}`;
      const found = done ? `it had ${count(attempts, 'attempt')}` : outcomeOf(step);
      return `step '${step}' was expected to run${wanted}; ${found}`;
    },
    notToHaveRun(step) {
      const attempts = attemptsOf(step);
      if (attempts === 0) return undefined;
      return `step '${step}' was expected not to run; it had ${count(attempts, 'attempt')}`;
    },
    toHaveSkipped: (step) => unlessSettled(step, 'step_skipped', 'skipped'),
    toHaveDegraded: (step) => unlessSettled(step, 'step_degraded', 'degraded'),
    toHaveFailed(step, code) {
      const errors = settled(step, 'step_failed').map(
        (event) => (event as RunEvent<'step_failed'>).data.error,
      );
      if (errors.some((error) => code === undefined || error.code === code)) return undefined;
      const wanted = code === undefined ? '' : ` with ${code}`;
      const found = errors[0] ? `it failed with ${errors[0].code}` : outcomeOf(step);
      return `step '${step}' was expected to fail${wanted}; ${found}`;
    },
    toHaveEndedInOrder(...steps) {
      const ended = events.filter(isSettled).map(({ data }) => nameOf(data));
      let at = -1;
      const missing = steps.find((step) => {
        at = ended.indexOf(step, at + 1);
        return at < 0;
      });
      if (missing === undefined) return undefined;
      return `steps were expected to end in the order ${steps.join(', ')}; they ended in the order ${ended.join(', ')}`;
    },
    toHaveCompensated(...steps) {
      const undone = events.flatMap((event) =>
        event.type === 'step_compensated' ? [nameOf(event.data)] : [],
      );
      if (undone.join() === steps.join()) return undefined;
      return `compensations expected: ${list(steps)}; got: ${list(undone)}`;
    },
    toHaveDecided(step, decision) {
      const decisions = events.flatMap((event) =>
        event.type === 'wait_resolved' && stepOfWait(events, event.data.waitId) === step
          ? [event.data.decision]
          : [],
      );
      if (decisions.at(-1) === decision) return undefined;
      return `the decision on '${step}' was expected to be ${decision}; decisions: ${list(decisions)}`;
    },
    toHave(type, times) {
      const found = events.filter((event) => event.type === type).length;
      if (times === undefined ? found > 0 : found === times) return undefined;
      return `${times === undefined ? 'an event' : count(times, 'event')} ${type} expected; got ${found}`;
    },
    toEndAs(status, code) {
      const end = events.find(({ type }) => type === `run_${status}`);
      const found = end?.type === 'run_failed' ? end.data.error.code : undefined;
      if (end && (code === undefined || found === code)) return undefined;
      return `the run was expected to end as ${status}${code === undefined ? '' : ` with ${code}`}; ${endOf(events)}`;
    },
  };
}

/** The end of an execution in which the body ran, successful or not. */
function isWork({ type }: RunEvent): boolean {
  return type === 'step_succeeded' || type === 'step_degraded' || type === 'step_failed';
}

function about({ data }: RunEvent, step: string): boolean {
  return 'stepId' in data && data.stepId !== undefined && nameOf(data as StepRef) === step;
}

function nameOf({ stepId, itemKey }: StepRef): string {
  return stepKey(itemKey === undefined ? { stepId } : { stepId, itemKey });
}

function stepOfWait(events: readonly RunEvent[], waitId: string): string | undefined {
  const opened = events.findLast((event) => event.type === 'wait_opened' && event.data.wait.id === waitId);
  return opened?.type === 'wait_opened' ? nameOf(opened.data.wait.execution) : undefined;
}

function endOf(events: readonly RunEvent[]): string {
  const end = events.findLast(({ type }) => /^run_(?:completed|failed|cancelled)$/.test(type));
  if (!end) return 'it has not ended';
  return end.type === 'run_failed' ? `it failed with ${end.data.error.code}` : `it ended with ${end.type}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function list(names: readonly (string | undefined)[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
