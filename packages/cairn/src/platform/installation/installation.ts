/** One call of `cairnFunctions`: its options and the functions that it made. A process may serve several. */
import type { CairnOptions } from './options.ts';

export interface CairnInstallation {
  readonly options: CairnOptions;
  /** By the name of each in the result of the call; those of a group as `pubsub.{name}`. */
  readonly members: Readonly<Record<string, object>>;
}

const served: CairnInstallation[] = [];

/** All of the codebase. */
export const servedInstallations = (): readonly CairnInstallation[] => served;

export function register(installation: CairnInstallation): void {
  served.push(installation);
}

/** Functions and queue of a class of workflows: `driveVideo`. Those of all others are called `drive`. */
export const driveMember = (pool?: string): string =>
  pool === undefined ? 'drive' : `drive${pool.charAt(0).toUpperCase()}${pool.slice(1)}`;

/** The function and queue beside it for suspects, which are dispatched alone. */
export const aloneMember = (pool?: string): string => `${driveMember(pool)}Alone`;
