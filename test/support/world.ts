/** A whole installation in memory, whose time the test owns. */

import { makeRunId } from '../../functions/src/core/encoding/ids.ts';
import { fold } from '../../functions/src/core/run/reduce/index.ts';
import type { RunState } from '../../functions/src/core/run/state.ts';
import { CachedRuntimeConfig } from '../../functions/src/engine/cached-runtime-config.ts';
import { WorkflowRegistry } from '../../functions/src/engine/define/registry.ts';
import type { Workflow } from '../../functions/src/engine/define/steps.ts';
import type { EngineDeps } from '../../functions/src/engine/deps.ts';
import { drive } from '../../functions/src/engine/drive/drive.ts';
import { type EngineSettings, LOCAL_SETTINGS } from '../../functions/src/engine/settings.ts';
import { MemoryDatabase } from '../../functions/src/memory/memory-database.ts';
import { MemoryIdempotencyStore } from '../../functions/src/memory/memory-idempotency-store.ts';
import { MemoryRendezvousStore } from '../../functions/src/memory/memory-rendezvous-store.ts';
import { MemoryRunStore } from '../../functions/src/memory/memory-run-store.ts';
import { MemoryRuntimeConfigStore } from '../../functions/src/memory/memory-runtime-config-store.ts';
import { MemoryTaskQueue } from '../../functions/src/memory/memory-task-queue.ts';
import type { StartRequest } from '../../functions/src/operations/start/request.ts';
import { startRun } from '../../functions/src/operations/start/start-run.ts';
import type { Log } from '../../functions/src/ports/log.ts';
import type { Randomness } from '../../functions/src/ports/randomness.ts';
import { scan } from '../../functions/src/recovery/scan.ts';
import { settle, VirtualClock } from './virtual-clock.ts';

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Numbers that look random and are the same in every run of the test. */
export function seededRandomness(seed = 1): Randomness {
  let state = seed;
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const bytes = () => Uint8Array.from({ length: 16 }, () => Math.floor(unit() * 256));
  return { unit, token: () => Buffer.from(bytes()).toString('hex'), runId: () => makeRunId(bytes()) };
}

export interface WorldOptions {
  readonly workflows: readonly Workflow[];
  readonly settings?: Partial<EngineSettings>;
  readonly seed?: number;
}

export class World {
  readonly clock = new VirtualClock();
  readonly db = new MemoryDatabase(this.clock);
  readonly store = new MemoryRunStore(this.db);
  readonly records = new MemoryIdempotencyStore(this.db);
  readonly config = new MemoryRuntimeConfigStore(this.db);
  readonly rendezvous = new MemoryRendezvousStore(this.db);
  readonly queue = new MemoryTaskQueue();
  readonly shutdown = new AbortController();
  readonly deps: EngineDeps;

  constructor({ workflows, settings, seed }: WorldOptions) {
    this.deps = {
      store: this.store,
      queue: this.queue,
      rendezvous: this.rendezvous,
      runtime: new CachedRuntimeConfig(this.config, this.clock),
      clock: this.clock,
      random: seededRandomness(seed),
      log: SILENT,
      registry: new WorkflowRegistry(workflows),
      settings: { ...LOCAL_SETTINGS, ...settings },
      shutdown: this.shutdown.signal,
    };
  }

  async start(type: string, input: unknown = {}, more: Partial<StartRequest> = {}): Promise<string> {
    const workflow = this.deps.registry.newest(type);
    if (!workflow) throw new Error(`no workflow '${type}'`);
    const outcome = await startRun(
      { ...this.deps, records: this.records },
      {
        tenantId: 't1',
        environment: 'test',
        workflow,
        input,
        trigger: { source: 'api' },
        source: 'api',
        key: undefined,
        requestHash: 'h',
        ...more,
      },
    );
    if (outcome.kind === 'in_flight') throw new Error('in flight');
    return outcome.runId;
  }

  /** Delivers tasks, ticks the scan and moves time until nothing is left to do, or `until` says so. */
  async run(until: () => boolean = () => false, deps = this.deps): Promise<void> {
    const under: Promise<unknown>[] = [];
    for (let turn = 0; turn < 10_000; turn += 1) {
      await settle();
      if (until()) return;
      const now = this.clock.now();
      const due = this.queue.due(now);
      if (due.length > 0) {
        for (const { id, runId } of due) {
          this.queue.take(id);
          under.push(drive(deps, { runId }));
        }
        continue;
      }
      if ((await this.store.dueRuns(now, 100)).length > 0) {
        await scan(deps);
        continue;
      }
      const next = [this.clock.nextAt, this.queue.nextAt(), this.#nextWake()].filter(
        (at) => at !== undefined,
      );
      if (next.length === 0) break;
      const at = Math.min(...next);
      if (!this.clock.fireNext(at) && at > now) this.clock.jump(at - now);
    }
    await Promise.all(under);
  }

  #nextWake(): number | undefined {
    const times = [...this.db.runs.values()].flatMap((run) => (run.wakeAt === undefined ? [] : [run.wakeAt]));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** The run as its whole journal says; throws if the journal does not fold. */
  async folded(runId: string): Promise<RunState> {
    return fold(runId, await this.store.readEvents(runId, 0, 100_000));
  }

  async eventTypes(runId: string): Promise<string[]> {
    return (await this.store.readEvents(runId, 0, 100_000)).map((event) => event.type);
  }
}
