/**
 * The part of a run that lists show. Members that grow with the inputs and work of a run are omitted: a page of runs
 * with full inboxes took tens of megabytes, and a single run is read separately.
 */
import type { RunState, SoftState } from '../run/state.ts';

/** Members that only the run itself shows. */
export const NOT_LISTED = [
  'input',
  'secretInput',
  'result',
  'steps',
  'waits',
  'inbox',
  'received',
  'decisions',
  'feedback',
  'ties',
  'effects',
  'sentBack',
  'compensationLog',
  'lastHandoff',
  'itemMarks',
] as const;

export type ListedState = Omit<RunState, (typeof NOT_LISTED)[number]>;

/** The state without those members; the error of a run without its trace. */
export function listedState(state: ListedState): ListedState {
  const unlisted: ReadonlySet<string> = new Set(NOT_LISTED);
  const shown = Object.fromEntries(Object.entries(state).filter(([name]) => !unlisted.has(name)));
  const { error } = state;
  const { trace: _, ...brief } = error ?? {};
  return { ...shown, ...(error === undefined ? {} : { error: brief }) } as ListedState;
}

export type ListedSoft = Pick<SoftState, 'lastHeartbeatAt' | 'leaseExtendedTo' | 'running' | 'cost'>;

/** The same for the volatile metadata. */
export function listedSoft({ lastHeartbeatAt, leaseExtendedTo, running, cost }: ListedSoft): ListedSoft {
  return { lastHeartbeatAt, leaseExtendedTo, running, cost };
}
