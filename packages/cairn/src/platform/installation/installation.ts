/** One call of `cairnFunctions`: what it was given and the functions that it made. A process may serve several. */
import type { CairnOptions } from './options.ts';

export interface CairnInstallation {
  readonly options: CairnOptions;
  /** By the name that each has in what the call returns; those of a group as `pubsub.{name}`. */
  readonly members: Readonly<Record<string, object>>;
}

const known = new WeakMap<object, CairnInstallation>();
const served: CairnInstallation[] = [];

/** All of the codebase. */
export const servedInstallations = (): readonly CairnInstallation[] => served;

/** To be found again by what the call returned, and by each function of it. */
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

/** The one beside it in which runs whose worker died are alone. */
export const aloneMember = (pool?: string): string => `${driveMember(pool)}Alone`;
