/** What the API needs of the world. Only `platform/` puts one together. */
import type { WorkflowRegistry } from '../engine/define/registry.ts';
import type { StartDeps } from '../operations/start/request.ts';
import type { ClientStore } from '../ports/client-store.ts';

export interface ApiDeps {
  readonly start: StartDeps;
  readonly registry: WorkflowRegistry;
  readonly clients: ClientStore;
  /** Written on every run. */
  readonly environment: string;
  /** Of the deployed functions. */
  readonly version: string;
}
