/**
 * Decides what follows from a message about an execution: changes the state of the dispatch and gives commands. Awaits nothing.
 *
 * Must not: decide that the dispatch ends (session.ts).
 */
import { bodyEndDecision, effectQuestion } from '../bodies/body-ends.ts';
import { closeWaits, flowEnded, waitsClosed } from '../flows/flow-end.ts';
import type { EndedBody, ExecutionChange, StepMessage } from '../messages.ts';
import { announced, expire } from '../waiting/waits.ts';
import type { Working } from '../working.ts';
import { end, recorded, recordStored, settled } from './settle.ts';

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
      record(working, effectQuestion(working, ended, ask, error));
      return 'nothing';
    }
    case 'effect_moved':
      record(working, message.change);
      return 'nothing';
    case 'recorded': {
      const { change, consequence } = message;
      recorded(working, change, consequence);
      if (consequence.kind === 'waits_closed') waitsClosed(working, consequence);
      return 'begin';
    }
    case 'due':
      due(working, message.key);
      return 'begin';
    case 'announced':
      announced(working, message);
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
  const { budget, waits } = working;
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
      record(working, decision.change);
      return 'nothing';
    case 'find_question':
      working.unqueuedEnds += 1;
      working.do({ kind: 'find_question', ended, doubt: decision.doubt });
      return 'nothing';
    case 'stop':
      record(working, budget.stop({ ...ended, refusal: decision.refusal }, waits.freeBytes));
      return 'nothing';
  }
}

function due(working: Working, key: string): void {
  if (working.isStopped || expire(working, key)) return;
  const { step, item } = working.unitOf(key);
  if (item) working.markItem({ step, item }, 'idle');
  else working.tracker.settle(key, 'pending');
}

function record(working: Working, change: ExecutionChange): void {
  working.do({ kind: 'record', change });
}
