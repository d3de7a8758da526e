/**
 * Decides what follows from a message about an execution: changes the state of the dispatch and gives commands. Awaits nothing.
 *
 * Must not: decide that the dispatch ends (session.ts).
 */

import type { DispatchState } from '../dispatch-state.ts';
import type { Consequence, EndedBody, ExecutionChange, StepMessage } from '../messages.ts';
import { keyOf } from '../step-inputs.ts';
import { bodyEndDecision, effectQuestion } from './body-end.ts';
import {
  endExecution,
  endedInJournal,
  outcomeKnown,
  outcomeRecorded,
  recordStored,
} from './execution-end.ts';
import { closeWaits, flowEnded, waitsClosed } from './flow-end.ts';
import { adoptWait, announced, applyEndOfWait, expire } from './waits.ts';

/**
 * `begin`: more steps may begin, or the dispatch may end. `end`: only the dispatch may end; its end is queued after the
 * recorded changes.
 */
export type Follows = 'begin' | 'end' | 'nothing';

export function next(dispatch: DispatchState, message: StepMessage): Follows {
  switch (message.kind) {
    case 'moved':
      return 'begin';
    case 'body_ended':
      return bodyEnded(dispatch, message.ended);
    case 'output_stored':
      recordStored(dispatch, message.ending, message.output);
      return 'end';
    case 'question_found': {
      const { ended, ask, error } = message;
      dispatch.unqueuedEnds -= 1;
      dispatch.record(effectQuestion(dispatch, ended, ask, error));
      return 'nothing';
    }
    case 'effect_moved':
      dispatch.record(message.change);
      return 'nothing';
    case 'recorded':
      recorded(dispatch, message.change, message.consequence);
      return 'begin';
    case 'due':
      due(dispatch, message.key);
      return 'begin';
    case 'announced':
      announced(dispatch, message.wait, message.announcement);
      return 'begin';
    case 'outcome_read':
      if (message.outcome) endedInJournal(dispatch, message.executed.unit, message.outcome);
      return 'begin';
    case 'results_read':
      message.set.loading = false;
      return 'begin';
    case 'flow_ended':
      flowEnded(dispatch, message);
      return 'begin';
    case 'close_waits':
      closeWaits(dispatch, message.ending);
      return 'begin';
  }
}

/**
 * The action of a body may be in doubt. The dispatch does not end before the question about it is queued, because the question
 * must precede the end.
 */
function bodyEnded(dispatch: DispatchState, body: EndedBody): Follows {
  const { budget } = dispatch;
  const { unit, result } = body;
  if (result.kind === 'presumed') budget.notRun(unit);
  const ended = { ...body, spent: result.kind === 'presumed' ? undefined : budget.ended(body) };
  const decision = bodyEndDecision(dispatch, ended);
  switch (decision.kind) {
    case 'end':
      endExecution(dispatch, decision.ending);
      // With many steps waiting, the next one begins during the commit. After a failure no step begins before the journal has
      // the failure.
      return dispatch.room === 1 && decision.ending.outcome.kind === 'done' ? 'begin' : 'end';
    case 'record':
      dispatch.record(decision.change);
      return 'nothing';
    case 'find_question':
      dispatch.unqueuedEnds += 1;
      dispatch.do({ kind: 'find_question', ended, doubt: decision.doubt });
      return 'nothing';
  }
}

/** Call when the change is in the journal, or when the journal refuses it as outdated. */
function recorded(dispatch: DispatchState, change: ExecutionChange, consequence: Consequence): void {
  const key = keyOf(change.unit);
  dispatch.budget.settled(key);
  dispatch.withoutRoom.ended(key);
  dispatch.bodies.recorded(key);
  follow(dispatch, change, consequence);
  for (const command of change.after ?? []) dispatch.do(command);
}

function follow(dispatch: DispatchState, { unit, isKnown }: ExecutionChange, consequence: Consequence): void {
  switch (consequence.kind) {
    case 'nothing':
      return;
    case 'ended':
      if (!isKnown) outcomeKnown(dispatch, unit, consequence.outcome);
      outcomeRecorded(dispatch, unit, consequence.outcome);
      return;
    case 'rests':
      dispatch.rest(keyOf(unit), consequence.at);
      return;
    case 'rests_without_room':
      dispatch.withoutRoom.add(keyOf(unit), consequence.bytes);
      return;
    case 'waits':
      adoptWait(dispatch, consequence.wait);
      return;
    case 'wait_ended':
      if (!consequence.outcome) applyEndOfWait(dispatch, consequence.wait);
      else if (dispatch.waits.isFirstEnd(consequence.wait))
        endedInJournal(dispatch, unit, consequence.outcome);
      return;
    case 'waits_closed':
      waitsClosed(dispatch, consequence);
      return;
  }
}

function due(dispatch: DispatchState, key: string): void {
  if (dispatch.isStopped || expire(dispatch, key)) return;
  dispatch.beginAgain(dispatch.unitOf(key));
}
