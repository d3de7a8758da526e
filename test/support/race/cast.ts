/**
 * Who takes part in a race, what each does at the run, and the workflow of that run.
 *
 * Must not: know that it is being watched.
 */
import { z } from 'zod';
import type { EventDraft } from '../../../functions/src/core/run/events.ts';
import { isOver } from '../../../functions/src/core/run/state.ts';
import type { Workflow } from '../../../functions/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../functions/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../functions/src/engine/deps.ts';
import { drive } from '../../../functions/src/engine/drive/drive.ts';
import { RunJournal } from '../../../functions/src/journal/run-journal.ts';
import { scan } from '../../../functions/src/recovery/scan.ts';

export type Kind = 'drive' | 'scan' | 'signal' | 'cancel';

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

async function appendFromOutside(
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

/** What each of them does; resolves with how that ended. */
export const WORK: { readonly [K in Kind]: (deps: EngineDeps, runId: string) => Promise<string> } = {
  drive: (deps, runId) => drive(deps, { runId }),
  scan: async (deps) => {
    const { failed } = await scan(deps);
    return `scanned, ${failed} failed`;
  },
  signal: (deps, runId) => appendFromOutside(deps, runId, SIGNAL),
  cancel: (deps, runId) => appendFromOutside(deps, runId, CANCEL),
};

/** Errors after which the caller asks again: the answer of the queue was lost, or the question came too late. */
export const TOLERATED: { readonly [K in Kind]: readonly string[] } = {
  drive: ['OutcomeUnknown'],
  scan: ['OutcomeUnknown'],
  signal: ['TooLate'],
  cancel: ['TooLate'],
};
