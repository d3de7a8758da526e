/**
 * Actors of a race with their work, and the workflow of the run.
 *
 * Must not: depend on the explorer.
 */
import { z } from 'zod';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import type { DriveRequest } from '../../../packages/cairn/src/engine/tracing/drive-account.ts';
import { RunJournal } from '../../../packages/cairn/src/journal/run-journal.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';

/** `first` and `redelivery` are two dispatches of one task, which is redelivered while the first one is alive. */
export type Kind = 'drive' | 'first' | 'redelivery' | 'scan' | 'signal' | 'cancel';

/** The smallest workflow in which one step can be finished and another not. */
export function twoSteps(ran: (step: string) => void): Workflow {
  return defineWorkflow({
    type: 'two-steps',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const one = step('one', () => {
        ran('one');
        return 1;
      });
      const two = step('two', { needs: { one } }, ({ one }) => {
        ran('two');
        return one + 1;
      });
      return { two };
    },
  });
}

export function isOutside(kind: Kind | undefined): boolean {
  return kind === 'signal' || kind === 'cancel';
}

/** The run ended before the external event. */
class TooLate extends Error {
  override readonly name = 'TooLate';
}

async function appendToRun(
  { settings, ...deps }: EngineDeps,
  runId: string,
  draft: EventDraft,
): Promise<string> {
  const loaded = await deps.store.load(runId);
  if (!loaded) throw new Error('the run is gone');
  const journal = new RunJournal(deps, loaded, { ...settings });
  await journal.append((state) => {
    if (isOver(state)) throw new TooLate();
    return [draft];
  });
  return 'acknowledged';
}

const SIGNAL: EventDraft = {
  type: 'signal_received',
  initiator: 'user',
  data: { signalId: 's1', name: 'hello', payloadText: '{}' },
};
const CANCEL: EventDraft = { type: 'cancel_requested', initiator: 'user', data: { stopKind: 'user' } };

const TASK = 'drive/task';

/** A dispatch that finds a suspect continues as its isolated dispatch, as the next task would. */
async function dispatch(deps: EngineDeps, request: DriveRequest): Promise<string> {
  const end = await drive(deps, request);
  return end === 'moved' ? drive(deps, { runId: request.runId, alone: true }) : end;
}

/** Work of each kind of actor; resolves with its result. */
export const WORK: { readonly [K in Kind]: (deps: EngineDeps, runId: string) => Promise<string> } = {
  drive: (deps, runId) => dispatch(deps, { runId }),
  first: (deps, runId) => dispatch(deps, { runId, delivery: { name: TASK, retryCount: 0 } }),
  redelivery: (deps, runId) => dispatch(deps, { runId, delivery: { name: TASK, retryCount: 1 } }),
  scan: async (deps) => {
    const { failed } = await scan(deps);
    return `scanned, ${failed} failed`;
  },
  signal: (deps, runId) => appendToRun(deps, runId, SIGNAL),
  cancel: (deps, runId) => appendToRun(deps, runId, CANCEL),
};

/** Errors after which the caller repeats the call: the queue's answer was lost, or the call came too late. */
export const TOLERATED: { readonly [K in Kind]: readonly string[] } = {
  drive: ['OutcomeUnknown'],
  first: ['OutcomeUnknown'],
  redelivery: ['OutcomeUnknown'],
  scan: ['OutcomeUnknown'],
  signal: ['TooLate'],
  cancel: ['TooLate'],
};
