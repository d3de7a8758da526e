/** Adapters under test, and further means for a suite. */
import type { ClientRegistry } from '../../../packages/cairn/src/ports/access/client-store.ts';
import type { FindingStore } from '../../../packages/cairn/src/ports/diagnosis/findings.ts';
import type { HeartbeatStore } from '../../../packages/cairn/src/ports/diagnosis/heartbeats.ts';
import type { StoreProbe } from '../../../packages/cairn/src/ports/diagnosis/store-probe.ts';
import type { IdempotencyStore } from '../../../packages/cairn/src/ports/idempotency-store.ts';
import type { MailboxStore } from '../../../packages/cairn/src/ports/mailbox-store.ts';
import type { RunStatistics } from '../../../packages/cairn/src/ports/run-statistics.ts';
import type { RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { DayBudgetStore } from '../../../packages/cairn/src/ports/runs/day-budget-store.ts';
import type { ExternalEffectStore } from '../../../packages/cairn/src/ports/runs/effect-store.ts';
import type { ErasureStore } from '../../../packages/cairn/src/ports/runs/erasure-store.ts';
import type {
  IntegrityReader,
  RepairStore,
  RunSample,
} from '../../../packages/cairn/src/ports/runs/integrity-store.ts';
import type { LogStore } from '../../../packages/cairn/src/ports/runs/log-store.ts';
import type { PlanStore } from '../../../packages/cairn/src/ports/runs/plan-store.ts';
import type { RetentionStore } from '../../../packages/cairn/src/ports/runs/retention-store.ts';
import type { RunFinder } from '../../../packages/cairn/src/ports/runs/run-finder.ts';
import type { RuntimeConfigStore } from '../../../packages/cairn/src/ports/runtime-config.ts';
import type { ScheduleStore } from '../../../packages/cairn/src/ports/schedule-store.ts';

export interface Stores {
  readonly runs: RunStore;
  readonly logs: LogStore;
  readonly idempotency: IdempotencyStore;
  readonly clients: ClientRegistry;
  readonly mailboxes: MailboxStore;
  readonly effects: ExternalEffectStore;
  readonly integrity: IntegrityReader & RepairStore;
  readonly sample: RunSample;
  readonly config: RuntimeConfigStore;
  readonly statistics: RunStatistics;
  readonly retention: RetentionStore;
  readonly erasures: ErasureStore;
  readonly finder: RunFinder;
  readonly schedules: ScheduleStore;
  readonly plans: PlanStore;
  readonly dayBudgets: DayBudgetStore;
  readonly heartbeats: HeartbeatStore;
  readonly findings: FindingStore;
  readonly look: StoreProbe;
  /** Moves the store's clock forward, ms. */
  passTime(ms: number): void;
  /** Time of the store's clock, epoch ms. */
  now(): number;
}

export interface Harness {
  /** Empty stores over one database. */
  make(): Promise<Stores>;
  /** Stops everything that `make` started. */
  close(): Promise<void>;
}
