/**
 * A whole installation in memory: the composition of `platform/`, with stand-ins for the real services. Owns no behaviour: the
 * driver delivers tasks, ticks the scan and moves time.
 */

import { type BudgetOptions, dayLimits } from '../../core/budget/day-limits.ts';
import { CachedRuntimeConfig } from '../../engine/cached-runtime-config.ts';
import { Bindings } from '../../engine/define/bindings.ts';
import type { CallPolicy } from '../../engine/define/call-policy.ts';
import type { Binding } from '../../engine/define/capability.ts';
import { WorkflowRegistry } from '../../engine/define/registry.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import type { EngineDeps } from '../../engine/deps.ts';
import { KnownPlans } from '../../engine/plans/known-plans.ts';
import type { EngineSettings } from '../../engine/settings.ts';
import { MemoryDatabase } from '../../memory/memory-database.ts';
import {
  MemoryDayBudgetStore,
  MemoryFindingStore,
  MemoryIdempotencyStore,
  MemoryMailboxStore,
  MemoryPlanStore,
  MemoryRuntimeConfigStore,
  MemoryScheduleStore,
} from '../../memory/memory-documents.ts';
import { MemoryEffectStore } from '../../memory/memory-effect-store.ts';
import { MemoryRunStatistics } from '../../memory/memory-run-statistics.ts';
import { MemoryRunStore } from '../../memory/memory-run-store.ts';
import { MemoryTaskQueue } from '../../memory/memory-task-queue.ts';
import { otherRuns } from '../../operations/other-runs.ts';
import type { Log } from '../../ports/log.ts';
import { type Metrics, UNMEASURED } from '../../ports/metrics.ts';
import type { EventBus } from '../../ports/runs/event-bus.ts';
import type { SourceLocations } from '../../ports/source-locations.ts';
import type { Tracer } from '../../ports/tracing.ts';
import { seededRandomness } from './seeded-randomness.ts';
import { VirtualClock } from './virtual-clock.ts';

interface InstallationOptions {
  readonly workflows: readonly Workflow[];
  /** Bindings of the capabilities in use. */
  readonly bindings?: readonly Binding[] | undefined;
  readonly settings: EngineSettings;
  readonly seed?: number | undefined;
  /** Epoch ms at which its time begins. */
  readonly startAt?: number | undefined;
  /** Receives metrics; absent: none. */
  readonly metrics?: Metrics | undefined;
  /** Receives events; absent: they are not published. */
  readonly bus?: EventBus | undefined;
  /** Receives spans; absent: none. */
  readonly tracerBy?: ((clock: VirtualClock) => Tracer) | undefined;
  /** Decides about each call with side effects; absent: all are allowed. */
  readonly callPolicy?: CallPolicy | undefined;
  /** Daily limits of tenants; absent: no limits. */
  readonly budgets?: BudgetOptions | undefined;
  /** Finds source locations; absent: the location of a flow's code is not recorded. */
  readonly sources?: SourceLocations | undefined;
  /** Makes the log; its lines carry the time of the clock. */
  readonly logTo: (clock: VirtualClock) => Log;
}

export class Installation {
  readonly clock: VirtualClock;
  readonly db: MemoryDatabase;
  readonly store: MemoryRunStore;
  readonly records: MemoryIdempotencyStore;
  readonly mailboxes: MemoryMailboxStore;
  readonly effects: MemoryEffectStore;
  readonly findings: MemoryFindingStore;
  readonly config: MemoryRuntimeConfigStore;
  readonly statistics: MemoryRunStatistics;
  readonly planStore: MemoryPlanStore;
  readonly schedules: MemoryScheduleStore;
  readonly dayBudgets: MemoryDayBudgetStore;
  readonly queue = new MemoryTaskQueue();
  readonly shutdown = new AbortController();
  readonly deps: EngineDeps;

  constructor({
    workflows,
    bindings = [],
    settings,
    seed,
    startAt,
    metrics = UNMEASURED,
    bus,
    tracerBy,
    sources,
    callPolicy,
    budgets,
    logTo,
  }: InstallationOptions) {
    this.clock = new VirtualClock(startAt);
    this.db = new MemoryDatabase(this.clock);
    this.store = new MemoryRunStore(this.db);
    this.records = new MemoryIdempotencyStore(this.db);
    this.mailboxes = new MemoryMailboxStore(this.db);
    this.effects = new MemoryEffectStore(this.db);
    this.findings = new MemoryFindingStore(this.db);
    this.config = new MemoryRuntimeConfigStore(this.db);
    this.statistics = new MemoryRunStatistics(this.db);
    this.planStore = new MemoryPlanStore(this.db);
    this.schedules = new MemoryScheduleStore(this.db);
    this.dayBudgets = new MemoryDayBudgetStore(this.db);
    const base = {
      store: this.store,
      queue: this.queue,
      mailboxes: this.mailboxes,
      runtime: new CachedRuntimeConfig(this.config, this.clock),
      clock: this.clock,
      random: seededRandomness(seed),
      log: logTo(this.clock),
      metrics,
      plans: new KnownPlans({ store: this.planStore, clock: this.clock, random: seededRandomness(seed) }),
      registry: new WorkflowRegistry(workflows),
      effects: this.effects,
      findings: this.findings,
      bindings: new Bindings(bindings),
      settings,
      shutdown: this.shutdown.signal,
      dayBudgets: this.dayBudgets,
      dayLimits: dayLimits(budgets),
      bus,
      tracer: tracerBy?.(this.clock),
      sources,
      callPolicy,
    };
    base.bindings.assertBound(base.registry);
    this.deps = { ...base, otherRuns: otherRuns({ ...base, records: this.records }) };
  }

  /** Earliest `wakeAt` of a run (J10), epoch ms. */
  get nextWake(): number | undefined {
    const times = [...this.db.runs.values()].flatMap((run) => (run.wakeAt === undefined ? [] : [run.wakeAt]));
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
