/** Builds the changes of executions that a dispatch records. Pure. */
import type { EventDraft, Wait } from '../../../core/run/events.ts';
import * as drafts from '../../facts/drafts.ts';
import { NO_OUTPUT, type Outcome } from '../../facts/output.ts';
import type { Consequence, Executed, ExecutionChange, ExecutionEnd } from '../messages.ts';
import { sizeOf } from '../waiting/open-waits.ts';

/** Facts that hold on every newer state. */
export function changeOf(
  { unit, execution }: Executed,
  facts: readonly EventDraft[],
  consequence: Consequence,
): ExecutionChange {
  const decided = { facts, consequence };
  return { unit, execution, decide: () => decided, otherwise: consequence };
}

/** The end that these facts are. */
export function endBy({ unit, execution }: Executed, facts: readonly EventDraft[]): ExecutionEnd {
  const outcome = drafts.outcomeOf(facts);
  if (!outcome) throw new Error(`the journal has no end of step '${unit.step.id}'`);
  return { unit, execution, outcome, facts };
}

/** @param outcome with the output as it is kept */
export function changeToEnd(ending: ExecutionEnd, outcome: Outcome): ExecutionChange {
  const { facts } = ending;
  const written =
    typeof facts === 'function' ? facts(outcome.kind === 'done' ? outcome.output : NO_OUTPUT) : facts;
  return { ...changeOf(ending, written, { kind: 'ended', outcome }), isKnown: true };
}

interface QuestionDrafts {
  readonly wait: Wait;
  /** Events that open the wait. */
  readonly facts: readonly EventDraft[];
  /** Events with which the execution rests until there is room. */
  readonly withoutRoom: readonly EventDraft[];
}

/** A question opens if the snapshot has room for it; otherwise the execution rests until it has. */
export function questionOf(
  executed: Executed,
  { wait, facts, withoutRoom }: QuestionDrafts,
  freeBytes: number,
): ExecutionChange {
  const bytes = sizeOf(wait);
  if (bytes > freeBytes) return changeOf(executed, withoutRoom, { kind: 'rests_without_room', bytes });
  const change = changeOf(executed, facts, { kind: 'waits', wait });
  return { ...change, otherwise: { kind: 'nothing' }, opening: wait };
}
