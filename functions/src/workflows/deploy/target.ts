/** Interface of a deployment target. The installer of the workflow provides one; nothing here calls anything. */
import type { OutsideCall } from '../outside-call.ts';

/** A service where it runs. */
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

/** Every method may be called again with the same key: a crash between an act and its record repeats it. */
export interface DeployTarget {
  /** Locks the place until `unlock`. Throws while another run holds the lock. */
  lock(place: DeployPlace, call: OutsideCall): Promise<void>;
  /** Nothing, if it is not locked. */
  unlock(place: DeployPlace, call: OutsideCall): Promise<void>;
  /** Brings the version to its users. */
  release(release: Release, call: OutsideCall): Promise<void>;
  /** Brings back the version that was there; also after a `release` that failed half way, or never began. */
  rollBack(release: Release, call: OutsideCall): Promise<void>;
  health(release: Release, call: OutsideCall): Promise<ServiceHealth>;
}
