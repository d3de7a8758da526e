/** One call of `cairnFunctions`: its options and the functions that it made. A process may serve several. */
import type { CairnOptions } from './options.ts';

export interface CairnInstallation {
  readonly options: CairnOptions;
  /** By the name of each in the result of the call; those of a group as `pubsub.{name}`. */
  readonly members: Readonly<Record<string, object>>;
}

const known = new WeakMap<object, CairnInstallation>();
const served: CairnInstallation[] = [];

/** All of the codebase. */
export const servedInstallations = (): readonly CairnInstallation[] => served;

/** Makes the installation known by the result of the call, and by each function in it. */
export function register(installation: CairnInstallation, returned: object): void {
  served.push(installation);
  for (const one of [returned, ...Object.values(installation.members)]) known.set(one, installation);
}

/** @throws TypeError if it is nothing that `cairnFunctions` made */
export function installationOf(made: object): CairnInstallation {
  const installation = known.get(made);
  if (!installation) throw new TypeError('not a value returned by cairnFunctions');
  return installation;
}

/** Functions and queue of a class of workflows: `driveVideo`. Those of all others are called `drive`. */
export const driveMember = (pool?: string): string =>
  pool === undefined ? 'drive' : `drive${pool.charAt(0).toUpperCase()}${pool.slice(1)}`;

/** The function and queue beside it for suspects, which are dispatched alone. */
export const aloneMember = (pool?: string): string => `${driveMember(pool)}Alone`;
