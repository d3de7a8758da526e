/** Interface of a deployment target. Whoever installs the workflow provides it; nothing here calls anything. */
import type { OutsideCall } from '../outside-call.ts';

/** A service in an environment. */
export interface DeployPlace {
  readonly service: string;
  readonly environment: string;
}

export interface Release extends DeployPlace {
  readonly version: string;
}

export type ServiceHealth = {
  readonly healthy: boolean;
  /** Detail for display. */
  readonly detail?: string;
};

/** Every method may be called again with the same key: a crash between an action and its record repeats it. */
export interface DeployTarget {
  /** Locks the place until `unlock`. Throws while another run holds the lock. */
  lock(place: DeployPlace, call: OutsideCall): Promise<void>;
  /** Does nothing if it is not locked. */
  unlock(place: DeployPlace, call: OutsideCall): Promise<void>;
  /** Brings the version to its users. */
  release(release: Release, call: OutsideCall): Promise<void>;
  /** Restores the previous version, even after a `release` that failed in part or never began. */
  rollBack(release: Release, call: OutsideCall): Promise<void>;
  health(release: Release, call: OutsideCall): Promise<ServiceHealth>;
}
