/** What the API needs of the world. Only `platform/` puts one together. */
import type { WorkflowRegistry } from '../engine/define/registry.ts';
import type { StartDeps } from '../operations/start/request.ts';
import type { ClientStore } from '../ports/client-store.ts';
import type { RendezvousStore } from '../ports/rendezvous-store.ts';
import type { RunCensus } from '../ports/run-census.ts';
import type { RuntimeConfigStore } from '../ports/runtime-config.ts';

export interface ApiDeps {
  readonly start: StartDeps;
  readonly registry: WorkflowRegistry;
  readonly clients: ClientStore;
  readonly rendezvous: RendezvousStore;
  readonly config: RuntimeConfigStore;
  readonly census: RunCensus;
  /** Written on every run. */
  readonly environment: string;
  /** Of the deployed functions. */
  readonly version: string;
}
