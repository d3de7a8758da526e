/** Dependencies of the API. Only `platform/` creates them. */

import type { RetentionOf } from '../core/retention/policy.ts';
import type { EngineDeps } from '../engine/deps.ts';
import type { DiagnosisDeps } from '../operations/diagnosis/diagnose.ts';
import type { StartDeps } from '../operations/start/request.ts';
import type { ClientRegistry, ClientStore } from '../ports/access/client-store.ts';
import type { TokenVerifier } from '../ports/access/token-verifier.ts';
import type { CountReader } from '../ports/metrics.ts';
import type { RunStatistics } from '../ports/run-statistics.ts';
import type { ExternalEffectStore } from '../ports/runs/effect-store.ts';
import type { ErasureStore } from '../ports/runs/erasure-store.ts';
import type { IntegrityReader, RepairStore } from '../ports/runs/integrity-store.ts';
import type { LogStore } from '../ports/runs/log-store.ts';
import type { RetentionStore } from '../ports/runs/retention-store.ts';
import type { RunFinder } from '../ports/runs/run-finder.ts';
import type { RunListWatch } from '../ports/runs/run-list-watch.ts';
import type { RunWatch } from '../ports/runs/run-watch.ts';
import type { RuntimeConfigStore } from '../ports/runtime-config.ts';
import type { ScheduleStore } from '../ports/schedule-store.ts';
import type { RateLimit } from './rate-limit.ts';

export type DiagnosisParts = Pick<
  DiagnosisDeps,
  'storeProbe' | 'queueProbe' | 'heartbeats' | 'findings' | 'setup' | 'operations'
>;

export interface ApiDeps
  extends StartDeps,
    Pick<EngineDeps, 'mailboxes' | 'runtime'>,
    Required<Pick<EngineDeps, 'dayBudgets' | 'dayLimits'>> {
  readonly logs: LogStore;
  readonly effects: ExternalEffectStore;
  readonly integrity: IntegrityReader & RepairStore;
  readonly retention: RetentionStore;
  readonly retentionOf: RetentionOf;
  readonly erasures: ErasureStore;
  readonly clients: ClientStore;
  readonly tokens: TokenVerifier;
  /** Limit per caller and instance; undefined: none. */
  readonly rateLimit: RateLimit | undefined;
  /** Concurrent requests of an instance, which tenants share; undefined: unlimited. */
  readonly concurrency: number | undefined;
  readonly clientRegistry: ClientRegistry;
  readonly config: RuntimeConfigStore;
  readonly statistics: RunStatistics;
  readonly finder: RunFinder;
  readonly diagnosis: DiagnosisParts;
  readonly counts: CountReader;
  readonly schedules: ScheduleStore;
  readonly watch: RunWatch;
  readonly listWatch: RunListWatch;
  /** Aborted when the instance shuts down, which ends streams. */
  readonly shutdown: AbortSignal;
  /** Longest time between two heartbeats of a worker. */
  readonly heartbeatMs: number;
  readonly home: string;
  readonly environment: string;
  readonly version: string;
}
