/**
 * Actors of a race, what each does to the run, and the workflow of that run.
 *
 * Must not: know that it is being watched.
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

/** `first` and `redelivery` are two dispatches of one task: it is delivered again while the first of them lives. */
export type Kind = 'drive' | 'first' | 'redelivery' | 'scan' | 'signal' | 'cancel';

/** The smallest workflow in which one step can be done while another is not. */
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

/** The run ended before the outside could say anything. */
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

/** A dispatch that finds a suspect continues alone in its place, as the task that follows would. */
async function dispatch(deps: EngineDeps, request: DriveRequest): Promise<string> {
  const end = await drive(deps, request);
  return end === 'moved' ? drive(deps, { runId: request.runId, alone: true }) : end;
}

/** Work of each actor; resolves with its result. */
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

/** Errors after which the caller asks again: the answer of the queue was lost, or the question came too late. */
export const TOLERATED: { readonly [K in Kind]: readonly string[] } = {
  drive: ['OutcomeUnknown'],
  first: ['OutcomeUnknown'],
  redelivery: ['OutcomeUnknown'],
  scan: ['OutcomeUnknown'],
  signal: ['TooLate'],
  cancel: ['TooLate'],
};
