/**
 * The open waits of a run as a status, and in words. The status is the one that the run would have if nothing else ran, so that a
 * run with an open question is found while other branches run. Every snapshot stores it for the filters of lists. Pure.
 */
import type { Wait } from '../events.ts';
import type { RunState } from '../state.ts';
import { isTerminal } from '../status.ts';

export const WAITS_FOR = ['awaiting_approval', 'waiting_external'] as const;

/** The statuses of a run that waits and does nothing else. */
export type WaitsFor = (typeof WAITS_FOR)[number];

/** Status of a run with these waits if nothing is running. */
export function waitingStatus(waits: readonly Pick<Wait, 'kind'>[]): WaitsFor {
  return waits.some(({ kind }) => kind === 'approval') ? 'awaiting_approval' : 'waiting_external';
}

/**
 * The status that the open waits of a run imply. Undefined if it has none, and for a run that is being cancelled or
 * undone, or has ended, because it accepts no answer.
 */
export function waitsFor({
  status,
  waits,
  cancellation,
  compensating,
}: Pick<RunState, 'status' | 'waits' | 'cancellation' | 'compensating'>): WaitsFor | undefined {
  if (isTerminal(status) || cancellation || compensating || waits.length === 0) return undefined;
  return waitingStatus(waits);
}

/** The object of a wait, for texts after "waits for". */
export function awaitedText(wait: Wait): string {
  switch (wait.kind) {
    case 'approval':
      return 'a decision';
    case 'event':
      return `the event '${wait.name}' for '${wait.key}'`;
    case 'timer':
      return 'a timer';
    case 'child':
      return `the child run ${wait.child.runId}`;
  }
}
