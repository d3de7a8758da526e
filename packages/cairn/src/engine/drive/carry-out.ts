/**
 * Carries out the commands of a dispatch. No other code awaits something for an execution, except the execution's own code.
 * Each command ends with a message, which decides what follows.
 */

import type { Wait } from '../../core/run/events.ts';
import { stepKey } from '../../core/run/state.ts';
import { EffectMoved } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { eachReadable } from '../each-readable.ts';
import { askAbout } from '../effects/questions.ts';
import { NO_OUTPUT, type Outcome, type Output, storeIfLarge } from '../recording/output.ts';
import { orEnd } from '../unwritable.ts';
import type { DispatchState } from './dispatch-state.ts';
import {
  type Command,
  type CommandOf,
  type Executed,
  type ExecutionChange,
  type ExecutionEnd,
  type Message,
  MOVED,
} from './messages.ts';
import { failureAt, loadOutputs, outputsAt } from './outputs.ts';
import type { Announcer } from './waiting/announcer.ts';

export function carryOut(dispatch: DispatchState, announcer: Announcer, command: Command): Promise<Message> {
  switch (command.kind) {
    case 'record': {
      const recording = record(dispatch, command.change);
      return command.change.opening ? announcer.track(recording) : recording;
    }
    case 'announce':
      return announcer.track(announce(announcer, command.wait));
    case 'keep':
      return keep(dispatch, command.ending);
    case 'find_question':
      return findQuestion(dispatch, command);
    case 'leave_mailbox':
      return announcer.leave(command.place).then(() => MOVED);
    case 'cancel_children':
      return cancelChildren(dispatch, command);
    case 'read_outcome':
      return readOutcome(dispatch, command.executed);
    case 'read_results':
      return readResults(dispatch, command);
  }
}

async function record(dispatch: DispatchState, change: ExecutionChange): Promise<Message> {
  const { execution, decide, otherwise, opening, ifEffectMoved } = change;
  const { stepId, revision } = execution;
  let consequence = otherwise;
  if (opening) dispatch.waits.opening(opening);
  try {
    await dispatch.journal.append((state) => {
      consequence = otherwise;
      const isOutdated = (state.steps.get(stepId)?.revision ?? revision) > revision;
      if (isOutdated || !dispatch.mayAppend(state)) return [];
      const decided = decide(state);
      consequence = decided.consequence;
      return decided.events;
    });
    return { kind: 'recorded', change, consequence };
  } catch (error) {
    if (!(error instanceof EffectMoved) || !ifEffectMoved) throw error;
    return { kind: 'effect_moved', change: ifEffectMoved() };
  } finally {
    if (opening) dispatch.waits.opened(opening);
  }
}

async function announce(announcer: Announcer, wait: Wait): Promise<Message> {
  return { kind: 'announced', wait, announcement: await announcer.announce(wait) };
}

/** Stores an output that may be too large for a checkpoint before the commit that refers to it. */
async function keep(dispatch: DispatchState, ending: ExecutionEnd): Promise<Message> {
  const { outcome } = ending;
  const output = outcome.kind === 'done' ? await storeOutput(dispatch, outcome.output) : NO_OUTPUT;
  return { kind: 'output_stored', ending, output };
}

export function storeOutput({ deps, runId }: DispatchState, output: Output): Promise<Output> {
  return sendUntilKnown(deps, () => storeIfLarge(deps.store, runId, output));
}

async function findQuestion(
  { deps }: DispatchState,
  { ended, doubt }: CommandOf<'find_question'>,
): Promise<Message> {
  const ask = await askAbout(deps, doubt.open, doubt.error.message);
  return { kind: 'question_found', ended, ask, error: doubt.error };
}

async function cancelChildren(
  { deps, journal }: DispatchState,
  { runIds, message }: CommandOf<'cancel_children'>,
): Promise<Message> {
  await eachReadable(runIds, (runId) => orEnd(deps, runId, deps.otherRuns.cancelChild(journal.state, runId)));
  return message ?? MOVED;
}

async function readOutcome(dispatch: DispatchState, executed: Executed): Promise<Message> {
  return { kind: 'outcome_read', executed, outcome: await outcomeOf(dispatch, executed) };
}

/** Undefined: the step was sent back meanwhile. */
async function outcomeOf(
  { deps, journal, outputs, runId }: DispatchState,
  { unit, execution }: Executed,
): Promise<Outcome | undefined> {
  const step = journal.state.steps.get(stepKey(execution));
  if (step?.phase !== 'done') return undefined;
  if (step.outcome === 'skipped') return { kind: 'skipped' };
  if (step.outcome === 'failed') {
    const { error } = await failureAt(deps.store, runId, step.seq);
    return { kind: 'failed', error };
  }
  const isWanted = unit.item !== undefined || outputs.wants(unit.step.id);
  const [output = NO_OUTPUT] = isWanted ? await loadOutputs(deps.store, runId, [step.seq]) : [];
  return { kind: 'done', output };
}

/** Stops once the results exceed the limit together, because all of them might not fit into the memory of a worker. */
async function readResults(
  { deps, runId }: DispatchState,
  { set, done }: CommandOf<'read_results'>,
): Promise<Message> {
  const seqs = done.map(({ seq }) => seq);
  let at = 0;
  for await (const output of outputsAt(deps.store, runId, seqs)) {
    const item = done[at++];
    if (item) set.settle(item.index, { kind: 'done', output });
    if (set.isTooLarge) break;
  }
  return { kind: 'results_read', set };
}
