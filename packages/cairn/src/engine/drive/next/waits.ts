/**
 * The open waits of a dispatch: tracks them, ends them at their due time, and applies the ends that other processes appended. A wait
 * is in the journal before it is announced.
 *
 * Must not: announce a wait itself (announcer.ts).
 */
import { againAfterMs } from '../../../core/decisions/dispatch.ts';
import { halfJitterMs } from '../../../core/decisions/retry.ts';
import type { EventDraft, RecordedError, Wait } from '../../../core/run/events.ts';
import { type RunState, stepKey, type UnreadSignal } from '../../../core/run/state.ts';
import { LONGEST_CHECK_MS } from '../../../core/run/wake.ts';
import type { EventStep } from '../../define/steps.ts';
import { eventOutput } from '../../mailbox/event-answers.ts';
import * as build from '../../recording/event-builders.ts';
import type { Output } from '../../recording/output.ts';
import { expiredWaitDrafts } from '../../waits/expired-wait.ts';
import type { DispatchState } from '../dispatch-state.ts';
import type { Announcement, Command } from '../messages.ts';

/** Lets a later dispatch announce the wait. */
function announceLater({ waits, deps, now }: DispatchState, wait: Wait, missing?: RecordedError): void {
  const bound = againAfterMs(now - wait.openedAt, missing && LONGEST_CHECK_MS);
  waits.announceLater(wait, { at: now + Math.ceil(halfJitterMs(bound, deps.random.unit())), missing });
}

/** Adopts an open wait: announces it if necessary, and watches its time. */
export function adoptWait(dispatch: DispatchState, wait: Wait): void {
  if (!dispatch.waits.add(wait)) return;
  watch(dispatch, wait);
  const { waits, cancellation } = dispatch.journal.state;
  // Waits of a run that is ending need no announcement.
  if (wait.announced || cancellation || !waits.some(({ id }) => id === wait.id)) return;
  dispatch.do({ kind: 'announce', wait });
}

function watch(dispatch: DispatchState, { execution, dueAt }: Wait): void {
  const key = stepKey(execution);
  dispatch.resting.remove(key);
  if (dueAt !== undefined) dispatch.rest(key, dueAt);
}

/** Call when the journal has closed a wait whose answer nothing needs. Returns the child to cancel, if any. */
export function giveUpWait(dispatch: DispatchState, wait: Wait): string | undefined {
  dispatch.waits.giveUp(wait);
  dispatch.resting.remove(stepKey(wait.execution));
  return wait.child?.onParentEnd === 'cancel' ? wait.child.runId : undefined;
}

/** Handles the result of an announcement. */
export function announced(dispatch: DispatchState, wait: Wait, announcement: Announcement): void {
  switch (announcement.kind) {
    case 'announced':
      return;
    case 'ended': {
      const { events, place } = announcement;
      endWait(dispatch, wait, { events, after: place && [{ kind: 'leave_mailbox', place }] });
      return;
    }
    case 'lost':
    case 'not_deployed': {
      const { deps, runId } = dispatch;
      const { kind, error } = announcement;
      // This dispatch finishes its other work and releases the run.
      announceLater(dispatch, wait, kind === 'not_deployed' ? error : undefined);
      deps.log.warn('wait_not_announced', { runId, waitId: wait.id, error: error.message });
    }
  }
}

/** Ends a wait whose due time has come. False: no wait has this key. */
export function expire(dispatch: DispatchState, key: string): boolean {
  const wait = dispatch.waits.of(key);
  if (!wait) return false;
  const { step } = dispatch.unitOf(key);
  const events = expiredWaitDrafts({ step, wait, now: dispatch.now });
  // The child stays registered until it reports its end, so that the end of the run cancels it as well.
  const { child } = wait;
  endWait(dispatch, wait, {
    events,
    // False if a heartbeat has extended the wait meanwhile.
    mayEnd: ({ dueAt }) => dueAt === wait.dueAt,
    after: child && [{ kind: 'cancel_children', runIds: [child.runId] }],
  });
  return true;
}

interface EndingWait {
  readonly events: readonly EventDraft[];
  /** Returns false if the journal no longer lets the wait end. */
  readonly mayEnd?: (open: Wait) => boolean;
  readonly after?: readonly Command[] | undefined;
}

function endWait(
  dispatch: DispatchState,
  wait: Wait,
  { events, mayEnd = () => true, after = [] }: EndingWait,
): void {
  const { execution } = wait;
  const key = stepKey(execution);
  dispatch.waits.drop(wait);
  dispatch.resting.remove(key);
  const closed = { kind: 'wait_ended' as const, wait };
  const ended = { ...closed, outcome: build.outcomeOf(events) };
  dispatch.record({
    unit: dispatch.unitOf(key),
    execution,
    decide: ({ waits }) => {
      const open = waits.find(({ id }) => id === wait.id);
      if (!open) return { events: [], consequence: closed };
      return mayEnd(open)
        ? { events, consequence: ended }
        : { events: [], consequence: { kind: 'waits', wait: open } };
    },
    otherwise: closed,
    after,
  });
}

/** Applies waits that other processes ended or extended. */
export function applyForeignChanges(dispatch: DispatchState, state: RunState): void {
  for (const wait of dispatch.waits.takeClosed(state)) {
    dispatch.resting.remove(stepKey(wait.execution));
    applyEndOfWait(dispatch, wait);
  }
  for (const wait of dispatch.waits.takeExtended(state)) watch(dispatch, wait);
}

/** Call when a wait has ended: continues with the state of its step in the journal. */
export function applyEndOfWait(dispatch: DispatchState, wait: Wait): void {
  if (!dispatch.waits.isFirstEnd(wait)) return;
  const { execution } = wait;
  const key = stepKey(execution);
  const step = dispatch.journal.state.steps.get(key);
  if (step?.phase === 'retrying') dispatch.restAs(key, step);
  else if (step?.phase === 'done')
    dispatch.do({ kind: 'read_outcome', executed: { unit: dispatch.unitOf(key), execution } });
}

/** The oldest buffered signal that matches the wait and that its step accepts. */
export function signalFor(
  { unread }: RunState,
  step: EventStep,
  wait: Wait,
): { readonly signal: UnreadSignal; readonly output: Output } | undefined {
  for (const signal of unread) {
    if (signal.name !== wait.name || (signal.key !== undefined && signal.key !== wait.key)) continue;
    const output = acceptable(step, signal.payloadText);
    if (output) return { signal, output };
  }
  return undefined;
}

/** Output of the step for the data; undefined if the step refuses it. */
export function acceptable(step: EventStep, dataText: string): Output | undefined {
  const output = eventOutput(step, dataText);
  return 'text' in output ? output : undefined;
}
