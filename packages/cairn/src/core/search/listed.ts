/**
 * The part of a run that lists show. Members that grow with the inputs and work of a run are omitted: a page of runs
 * with many unread signals took tens of megabytes, and a single run is read separately.
 */
import type { RunState, VolatileMetadata } from '../run/state.ts';

/** Members that only the run itself shows. */
export const NOT_LISTED = [
  'input',
  'secretInput',
  'result',
  'steps',
  'waits',
  'unread',
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

const UNLISTED: ReadonlySet<string> = new Set(NOT_LISTED);

/** The state without those members; the error of a run without its trace. */
export function listedState(state: ListedState): ListedState {
  const shown: Record<string, unknown> = {};
  for (const name of Object.keys(state)) {
    const value = state[name as keyof ListedState];
    if (value !== undefined && !UNLISTED.has(name)) shown[name] = value;
  }
  const { error } = state;
  if (error !== undefined) {
    const { trace: _, ...listedError } = error;
    shown.error = listedError;
  }
  return shown as unknown as ListedState;
}

/** Members of the volatile metadata that lists show. */
export const LISTED_METADATA = ['lastHeartbeatAt', 'leaseExtendedTo', 'running', 'cost'] as const;

export type ListedMetadata = Pick<VolatileMetadata, (typeof LISTED_METADATA)[number]>;

export function listedMetadata(metadata: ListedMetadata): ListedMetadata {
  return Object.fromEntries(LISTED_METADATA.map((name) => [name, metadata[name]]));
}
