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
  /** The step ended by doing its work; with `times`: after so many recorded attempts, over all revisions. */
  toHaveRun(step: string, times?: number): JournalExpectations;
  /** No attempt of the step was recorded, not even a failed one. */
  notToHaveRun(step: string): JournalExpectations;
  toHaveSkipped(step: string): JournalExpectations;
  toHaveDegraded(step: string): JournalExpectations;
  toHaveFailed(step: string, code?: string): JournalExpectations;
  /** These steps ended in this order; others may have ended before, between and after them. */
  toHaveEndedInOrder(...steps: string[]): JournalExpectations;
  /** The steps undone, all of them, in this order. */
  toHaveCompensated(...steps: string[]): JournalExpectations;
  /** A person decided on the step, in the end like this. */
  toHaveDecided(step: string, decision: Decision): JournalExpectations;
  /** There is an event of this type (with `times`: exactly so many). */
  toHave(type: EventType, times?: number): JournalExpectations;
  /** The run has ended with this status; `code`: the error code of a failed run. */
  toEndAs(status: ExpectedEnding, code?: string): JournalExpectations;
}

export function expectJournal(events: readonly RunEvent[]): JournalExpectations {
  const attemptsOf = (step: string) =>
    events.filter((event) => (isWork(event) || event.type === 'step_retry_scheduled') && about(event, step));
  const settled = (step: string, type: EventType) =>
    events.filter((event) => event.type === type && about(event, step));

  const check = (caller: (...args: never[]) => unknown, holds: boolean, problem: () => string) => {
    if (holds) return expectations;
    const error = new JournalMismatch(`${problem()}\n\n${timelineOf(events)}`);
    // A test framework then points at the line of the test.
    Error.captureStackTrace(error, caller);
    throw error;
  };

  const expectations: JournalExpectations = {
    toHaveRun(step, times) {
      const attempts = attemptsOf(step).length;
      const done = events.some((event) => isWork(event) && about(event, step));
      const holds = times === undefined ? done : done && attempts === times;
      const wanted =
        times === undefined ? 'was expected to run' : `was expected to run with ${count(times, 'attempt')}`;
      return check(
        expectations.toHaveRun,
        holds,
        () => `step '${step}' ${wanted}; ${done ? `it had ${count(attempts, 'attempt')}` : outcomeOf(step)}`,
      );
    },
    notToHaveRun(step) {
      const attempts = attemptsOf(step).length;
      return check(
        expectations.notToHaveRun,
        attempts === 0,
        () => `step '${step}' was expected not to run; it had ${count(attempts, 'attempt')}`,
      );
    },
    toHaveSkipped: (step) => toHaveSettled('toHaveSkipped', step, 'step_skipped'),
    toHaveDegraded: (step) => toHaveSettled('toHaveDegraded', step, 'step_degraded'),
    toHaveFailed(step, code) {
      const errors = settled(step, 'step_failed').map(
        (event) => (event as RunEvent<'step_failed'>).data.error,
      );
      const holds = errors.some((error) => code === undefined || error.code === code);
      const wanted = code === undefined ? '' : ` with ${code}`;
      return check(
        expectations.toHaveFailed,
        holds,
        () =>
          `step '${step}' was expected to fail${wanted}; ${errors[0] ? `it failed with ${errors[0].code}` : outcomeOf(step)}`,
      );
    },
    toHaveEndedInOrder(...steps) {
      const ended = events.filter(isSettled).map(({ data }) => nameOf(data));
      let at = -1;
      const missing = steps.find((step) => {
        at = ended.indexOf(step, at + 1);
        return at < 0;
      });
      return check(
        expectations.toHaveEndedInOrder,
        missing === undefined,
        () =>
          `steps were expected to end in the order ${steps.join(', ')}; they ended in the order ${ended.join(', ')}`,
      );
    },
    toHaveCompensated(...steps) {
      const undone = events.flatMap((event) =>
        event.type === 'step_compensated' ? [nameOf(event.data)] : [],
      );
      return check(
        expectations.toHaveCompensated,
        undone.join() === steps.join(),
        () => `compensations expected: ${list(steps)}; got: ${list(undone)}`,
      );
    },
    toHaveDecided(step, decision) {
      const decisions = events.flatMap((event) =>
        event.type === 'wait_resolved' && stepOfWait(events, event.data.waitId) === step
          ? [event.data.decision]
          : [],
      );
      return check(
        expectations.toHaveDecided,
        decisions.at(-1) === decision,
        () => `the decision on '${step}' was expected to be ${decision}; decisions: ${list(decisions)}`,
      );
    },
    toHave(type, times) {
      const found = events.filter((event) => event.type === type).length;
      return check(
        expectations.toHave,
        times === undefined ? found > 0 : found === times,
        () => `${times === undefined ? 'an event' : count(times, 'event')} ${type} expected; got ${found}`,
      );
    },
    toEndAs(status, code) {
      const end = events.find(({ type }) => type === `run_${status}`);
      const found = end?.type === 'run_failed' ? end.data.error.code : undefined;
      return check(
        expectations.toEndAs,
        end !== undefined && (code === undefined || found === code),
        () =>
          `the run was expected to end as ${status}${code === undefined ? '' : ` with ${code}`}; ${endOf(events)}`,
      );
    },
  };
  return expectations;

  function toHaveSettled(name: 'toHaveSkipped' | 'toHaveDegraded', step: string, type: EventType) {
    const what = type === 'step_skipped' ? 'be skipped' : 'be degraded';
    return check(
      expectations[name],
      settled(step, type).length > 0,
      () => `step '${step}' was expected to ${what}; ${outcomeOf(step)}`,
    );
  }

  function outcomeOf(step: string): string {
    const end = events.findLast((event) => isSettled(event) && about(event, step));
    return end ? `its end was ${end.type}` : 'it has not ended';
  }
}

/** The end of an execution in which the step did something, well or badly. */
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
