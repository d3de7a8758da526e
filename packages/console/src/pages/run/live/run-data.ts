/** React context of a run's page: the current run. Provided by `use-run.tsx`. */
import { createContext, useContext } from 'react';
import type { Run } from './events.ts';
import type { FollowedState } from './run-follower.ts';
import type { Undone } from './undone.ts';

export interface RunData extends FollowedState {
  readonly id: string;
  /** The run as last read, at most a third of a second behind the events. */
  readonly run: Run | undefined;
  /** The run has a final status. */
  readonly isOver: boolean;
  /** The API would refuse decisions, because the version of the run is not deployed. */
  readonly isUndecidable: boolean;
  /** Completed steps that were undone, or could not be, by their keys. */
  readonly undone: ReadonlyMap<string, Undone>;
  /** Loads the journal up to the event; `events` grows. */
  loadUntil(seq: number): void;
  /** Retries after a failure. */
  again(): void;
}

export const RunDataContext = createContext<RunData | undefined>(undefined);

export function useRunData(): RunData {
  const data = useContext(RunDataContext);
  if (!data) throw new Error('this is not within the page of a run');
  return data;
}
