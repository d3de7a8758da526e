/** Dependencies of the Slack endpoint. Only `platform/` creates them. */
import type { StartDeps } from '../../operations/start/request.ts';

interface Common extends StartDeps {
  /** Recorded in every run. */
  readonly environment: string;
}

/** Secrets and teams are read for each request, because reading them may wait for the platform, and may fail. */
export interface SlackDeps extends Common {
  secrets(): readonly string[];
  /** Tenant by team; a missing team is not connected. */
  tenants(): ReadonlyMap<string, string>;
}

/** The same during one request. */
export interface SlackScope extends Common {
  readonly tenants: ReadonlyMap<string, string>;
}
