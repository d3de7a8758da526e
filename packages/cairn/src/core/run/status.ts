/**
 * Statuses of a run and the allowed transitions; the only such table.
 *
 * Must not: know other vocabularies (see vocabulary.ts) or the causes of transitions (see reduce/). That only
 * successors may be `replaying` is not visible here; the code that starts the replay checks it.
 */

import { CairnError } from '../errors.ts';

export const RUN_STATUSES = [
  'pending',
  'running',
  'replaying',
  'awaiting_approval',
  'waiting_external',
  'interrupted',
  'completed',
  'failed',
  'cancelled',
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

export type TerminalStatus = 'completed' | 'failed' | 'cancelled';

/** The allowed next statuses. A status never follows itself; a terminal status is final. */
export const TRANSITIONS: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ['running', 'cancelled', 'failed'],
  running: [
    'completed',
    'failed',
    'cancelled',
    'awaiting_approval',
    'waiting_external',
    'replaying',
    'interrupted',
  ],
  replaying: ['running', 'failed', 'cancelled', 'interrupted'],
  awaiting_approval: ['running', 'failed', 'cancelled'],
  waiting_external: ['running', 'failed', 'cancelled'],
  interrupted: ['running', 'replaying', 'awaiting_approval', 'waiting_external', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

export const DRIVEN_STATUSES = ['running', 'replaying'] as const satisfies readonly RunStatus[];

export function isTerminal(status: RunStatus): status is TerminalStatus {
  return TRANSITIONS[status].length === 0;
}

/** For the status in a stored document, which may be missing or damaged. */
export function isStoredAsTerminal(status: unknown): status is TerminalStatus {
  return typeof status === 'string' && isRunStatus(status) && isTerminal(status);
}

export function isRunStatus(word: string): word is RunStatus {
  return (RUN_STATUSES as readonly string[]).includes(word);
}

/** @throws CairnError RUN_TERMINAL_STATE if the run has ended, RUN_INVALID_TRANSITION if `to` may not follow `from` */
export function assertTransition(from: RunStatus, to: RunStatus): void {
  if (TRANSITIONS[from].includes(to)) return;
  if (isTerminal(from)) {
    throw new CairnError('RUN_TERMINAL_STATE', `the run is ${from} and cannot become ${to}`, {
      details: { from, to },
    });
  }
  throw new CairnError('RUN_INVALID_TRANSITION', `a run that is ${from} cannot become ${to}`, {
    details: { from, to, allowed: TRANSITIONS[from] },
  });
}

/** Causes of an event. */
export const INITIATORS = ['user', 'system', 'timeout', 'policy', 'webhook', 'approval'] as const;

export type Initiator = (typeof INITIATORS)[number];
