/** Builds the changes of executions that a dispatch records. Pure. */
import type { EventDraft, Wait } from '../../../core/run/events.ts';
import * as build from '../../recording/event-builders.ts';
import { NO_OUTPUT, type Outcome } from '../../recording/output.ts';
import type { Consequence, Executed, ExecutionChange, ExecutionEnd } from '../messages.ts';
import { sizeOf } from '../waiting/open-waits.ts';

/** A change that holds on every newer state. */
export function changeOf(
  { unit, execution }: Executed,
  events: readonly EventDraft[],
  consequence: Consequence,
): ExecutionChange {
  const decided = { events, consequence };
  return { unit, execution, decide: () => decided, otherwise: consequence };
}

/** The end that these events record. */
export function endBy({ unit, execution }: Executed, events: readonly EventDraft[]): ExecutionEnd {
  const outcome = build.outcomeOf(events);
  if (!outcome) throw new Error(`the journal has no end of step '${unit.step.id}'`);
  return { unit, execution, outcome, events };
}

/** @param outcome with the output as stored */
export function changeToEnd(ending: ExecutionEnd, outcome: Outcome): ExecutionChange {
  const { events } = ending;
  const written =
    typeof events === 'function' ? events(outcome.kind === 'done' ? outcome.output : NO_OUTPUT) : events;
  return { ...changeOf(ending, written, { kind: 'ended', outcome }), isKnown: true };
}

interface QuestionDrafts {
  readonly wait: Wait;
  /** Events that open the wait. */
  readonly events: readonly EventDraft[];
  /** Events with which the execution rests until there is room. */
  readonly withoutRoom: readonly EventDraft[];
}

/** A question opens if the snapshot has room for it. Otherwise the execution rests until there is room. */
export function questionOf(
  executed: Executed,
  { wait, events, withoutRoom }: QuestionDrafts,
  freeBytes: number,
): ExecutionChange {
  const bytes = sizeOf(wait);
  if (bytes > freeBytes) return changeOf(executed, withoutRoom, { kind: 'rests_without_room', bytes });
  const change = changeOf(executed, events, { kind: 'waits', wait });
  return { ...change, otherwise: { kind: 'nothing' }, opening: wait };
}
