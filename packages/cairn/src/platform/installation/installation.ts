/** One call of `cairnFunctions`: its options and functions. A process may serve several. */
import type { CairnOptions } from './options.ts';

export interface CairnInstallation {
  readonly options: CairnOptions;
  /** By their names in the result of the call; members of a group are named like `pubsub.{name}`. */
  readonly members: Readonly<Record<string, object>>;
}

const served: CairnInstallation[] = [];

/** All installations of the codebase. */
export const servedInstallations = (): readonly CairnInstallation[] => served;

export function register(installation: CairnInstallation): void {
  served.push(installation);
}

/** Function and queue of a class of workflows, such as `driveVideo`. Workflows without a class use `drive`. */
export const driveMember = (pool?: string): string =>
  pool === undefined ? 'drive' : `drive${pool.charAt(0).toUpperCase()}${pool.slice(1)}`;

/** The function and queue of the class for suspects, which are dispatched alone. */
export const aloneMember = (pool?: string): string => `${driveMember(pool)}Alone`;
