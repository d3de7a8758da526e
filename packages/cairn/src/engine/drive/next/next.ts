/**
 * Decides what follows from a message about an execution: changes the state of the dispatch and gives commands. Awaits nothing.
 *
 * Must not: decide that the dispatch ends (session.ts).
 */

import type { Consequence, EndedBody, ExecutionChange, StepMessage } from '../messages.ts';
import { keyOf } from '../step-inputs.ts';
import type { Working } from '../working.ts';
import { bodyEndDecision, effectQuestion } from './body-end.ts';
import { closeWaits, flowEnded, waitsClosed } from './flow-end.ts';
import { durable, end, known, recordStored, settled } from './settle.ts';
import { announced, expire, hold, takeIn } from './waits.ts';

/** `begin`: more steps may begin, or the dispatch end. `end`: the dispatch may end; its end is queued after the recorded changes. */
export type Follows = 'begin' | 'end' | 'nothing';

export function next(working: Working, message: StepMessage): Follows {
  switch (message.kind) {
    case 'moved':
      return 'begin';
    case 'body_ended':
      return bodyEnded(working, message.ended);
    case 'output_stored':
      recordStored(working, message.ending, message.output);
      return 'end';
    case 'question_found': {
      const { ended, ask, error } = message;
      working.unqueuedEnds -= 1;
      working.record(effectQuestion(working, ended, ask, error));
      return 'nothing';
    }
    case 'effect_moved':
      working.record(message.change);
      return 'nothing';
    case 'recorded':
      recorded(working, message.change, message.consequence);
      return 'begin';
    case 'due':
      due(working, message.key);
      return 'begin';
    case 'announced':
      announced(working, message.wait, message.announcement);
      return 'begin';
    case 'outcome_read':
      if (message.outcome) settled(working, message.executed.unit, message.outcome);
      return 'begin';
    case 'results_read':
      message.set.loading = false;
      return 'begin';
    case 'flow_ended':
      flowEnded(working, message);
      return 'begin';
    case 'close_waits':
      closeWaits(working, message.ending);
      return 'begin';
  }
}

/** The action of a body may be in doubt: the dispatch does not end before a question about it is queued, so that it precedes the end. */
function bodyEnded(working: Working, body: EndedBody): Follows {
  const { budget } = working;
  const { unit, result } = body;
  if (result.kind === 'presumed') budget.notRun(unit);
  const ended = { ...body, spent: result.kind === 'presumed' ? undefined : budget.ended(body) };
  const decision = bodyEndDecision(working, ended);
  switch (decision.kind) {
    case 'end':
      end(working, decision.ending);
      // The next of many steps uses the room while the commit is under way. After a failure no step begins before the failure is
      // in the journal.
      return working.room === 1 && decision.ending.outcome.kind === 'done' ? 'begin' : 'end';
    case 'record':
      working.record(decision.change);
      return 'nothing';
    case 'find_question':
      working.unqueuedEnds += 1;
      working.do({ kind: 'find_question', ended, doubt: decision.doubt });
      return 'nothing';
  }
}

/** The change is in the journal, or the journal refuses it as outdated. */
function recorded(working: Working, change: ExecutionChange, consequence: Consequence): void {
  const key = keyOf(change.unit);
  working.budget.settled(key);
  working.withoutRoom.ended(key);
  working.bodies.recorded(key);
  follow(working, change, consequence);
  for (const command of change.after ?? []) working.do(command);
}

function follow(working: Working, { unit, isKnown }: ExecutionChange, consequence: Consequence): void {
  switch (consequence.kind) {
    case 'nothing':
      return;
    case 'ended':
      if (!isKnown) known(working, unit, consequence.outcome);
      durable(working, unit, consequence.outcome);
      return;
    case 'rests':
      working.rest(keyOf(unit), consequence.at);
      return;
    case 'rests_without_room':
      working.withoutRoom.add(keyOf(unit), consequence.bytes);
      return;
    case 'waits':
      hold(working, consequence.wait);
      return;
    case 'wait_ended':
      if (!consequence.outcome) takeIn(working, consequence.wait);
      else if (working.waits.takeIn(consequence.wait)) settled(working, unit, consequence.outcome);
      return;
    case 'waits_closed':
      waitsClosed(working, consequence);
      return;
  }
}

function due(working: Working, key: string): void {
  if (working.isStopped || expire(working, key)) return;
  working.beginAgain(working.unitOf(key));
}
