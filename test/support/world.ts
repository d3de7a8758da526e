/** The installation of the test kit for the engine's own tests, with short leases and no log. */

import type { BudgetOptions } from '../../packages/cairn/src/core/budget/day-limits.ts';
import { fold } from '../../packages/cairn/src/core/run/reduce/index.ts';
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import type { Binding } from '../../packages/cairn/src/engine/define/capability.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { type EngineSettings, LOCAL_SETTINGS } from '../../packages/cairn/src/engine/settings.ts';
import { driveRequestOf } from '../../packages/cairn/src/memory/memory-task-queue.ts';
import type { StartRequest } from '../../packages/cairn/src/operations/start/request.ts';
import { startRun } from '../../packages/cairn/src/operations/start/start-run.ts';
import type { Log } from '../../packages/cairn/src/ports/log.ts';
import type { Metrics } from '../../packages/cairn/src/ports/metrics.ts';
import type { EventBus } from '../../packages/cairn/src/ports/runs/event-bus.ts';
import type { SourceLocations } from '../../packages/cairn/src/ports/source-locations.ts';
import type { Tracer } from '../../packages/cairn/src/ports/tracing.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { Installation } from '../../packages/cairn/src/testing/world/installation.ts';
import type { VirtualClock } from '../../packages/cairn/src/testing/world/virtual-clock.ts';
import { settle } from './virtual-clock.ts';

export { seededRandomness } from '../../packages/cairn/src/testing/world/seeded-randomness.ts';

/** An unknown, newer schema version. */
export const NEWER = 99;

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface WorldOptions {
  readonly workflows: readonly Workflow[];
  readonly bindings?: readonly Binding[];
  readonly settings?: Partial<EngineSettings>;
  readonly seed?: number;
  readonly metrics?: Metrics;
  readonly bus?: EventBus;
  readonly tracerBy?: (clock: VirtualClock) => Tracer;
  readonly sources?: SourceLocations;
  readonly budgets?: BudgetOptions;
  readonly startAt?: number;
}

export class World extends Installation {
  constructor({ settings, ...options }: WorldOptions) {
    super({ ...options, settings: { ...LOCAL_SETTINGS, ...settings }, logTo: () => SILENT });
  }

  stateOf(runId: string): RunState {
    const run = this.db.runs.get(runId);
    if (!run) throw new Error(`there is no run ${runId}`);
    return fold(runId, run.events);
  }

  /** Marks the run as last written with this schema version. @returns the previous schema version */
  writtenBy(runId: string, schemaVersion: number): number {
    const run = this.db.runs.get(runId);
    if (!run) throw new Error(`there is no run ${runId}`);
    this.db.runs.set(runId, { ...run, snapshot: { ...run.snapshot, schemaVersion } });
    return run.snapshot.schemaVersion;
  }

  async start(type: string, input: unknown = {}, more: Partial<StartRequest> = {}): Promise<string> {
    const workflow = this.deps.registry.newest(type);
    if (!workflow) throw new Error(`no workflow '${type}'`);
    const outcome = await startRun(
      { ...this.deps, records: this.records },
      { ...plainStart(workflow, input), ...more },
    );
    if (outcome.kind === 'in_flight') throw new Error('in flight');
    return outcome.runId;
  }

  /** Delivers tasks, runs the scan and moves time until there is no more work, or `until` returns true. */
  async run(until: () => boolean = () => false, deps = this.deps): Promise<void> {
    const under: Promise<unknown>[] = [];
    for (let turn = 0; turn < 10_000; turn += 1) {
      await settle();
      if (until()) return;
      const now = this.clock.now();
      const due = this.queue.due(now);
      if (due.length > 0) {
        for (const task of due) {
          this.queue.take(task.id);
          under.push(drive(deps, driveRequestOf(task)));
        }
        continue;
      }
      const anyDue = (await this.store.dueRuns(now, 100)).length > 0;
      if (anyDue && !(await scan(deps)).off) continue;
      // Under the kill switch runs stay due.
      const wake = anyDue ? undefined : this.nextWake;
      const next = [this.clock.nextAt, this.queue.nextAt(), wake].filter((at) => at !== undefined);
      if (next.length === 0) break;
      const at = Math.min(...next);
      if (!this.clock.fireNext(at) && at > now) this.clock.jump(at - now);
    }
    await Promise.all(under);
  }

  /** The run as folded from its whole journal; throws if the journal is invalid. */
  async folded(runId: string): Promise<RunState> {
    return fold(runId, await this.store.readEvents(runId, 0, 100_000));
  }

  async eventTypes(runId: string): Promise<string[]> {
    return (await this.store.readEvents(runId, 0, 100_000)).map((event) => event.type);
  }
}

/** A start request like the API's, without a key. */
export function plainStart(workflow: Workflow, input: unknown): StartRequest {
  return {
    tenantId: 't1',
    environment: 'test',
    workflow,
    input,
    trigger: { source: 'api' },
    source: 'api',
    key: undefined,
    requestHash: 'h',
  };
}
