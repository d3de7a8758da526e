/** What the engine needs of the world. Only `platform/` puts one together. */
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { RendezvousStore } from '../ports/rendezvous-store.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { RuntimeConfigReader } from '../ports/runtime-config.ts';
import type { TaskQueue } from '../ports/task-queue.ts';
import type { WorkflowRegistry } from './define/registry.ts';
import type { EngineSettings } from './settings.ts';

export interface EngineDeps {
  readonly store: RunStore;
  readonly queue: TaskQueue;
  readonly rendezvous: RendezvousStore;
  readonly runtime: RuntimeConfigReader;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly log: Log;
  readonly registry: WorkflowRegistry;
  readonly settings: EngineSettings;
  /** Aborts when this process is asked to end (SIGTERM). */
  readonly shutdown: AbortSignal;
}
