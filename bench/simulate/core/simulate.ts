/** Simulates the recorded traffic of many runs against the limits of the services. Pure: the same plan gives the same result. */
import { queuePlace } from '../../../packages/cairn/src/core/encoding/queue-place.ts';
import { LIMITS } from '../limits.ts';
import type { Dispatch, Op, Profile } from '../traffic/profile.ts';
import { ceilingOfInstances } from './ceilings.ts';
import { EventQueue } from './event-queue.ts';
import { FirestoreModel, type Origin } from './firestore.ts';
import { type Instance, Instances } from './instances.ts';
import { type Held, type Percentiles, type Plan, type Result, tenantId } from './plan.ts';
import { Random } from './random.ts';
import { TaskQueue } from './task-queue.ts';

interface Run extends Origin {
  readonly requestedAt: number;
  enqueuedAt: number;
  /** Index of the next dispatch in the profile. */
  dispatch: number;
  readonly queue: number;
  /** True if its first task is lost. */
  readonly isLost: boolean;
}

/** Time after which a caller repeats a start that was answered 429. */
const CALLER_AGAIN_MS = 1_000;
/** Allowed random growth of the backlog between the middle and the end of a sustained load. */
const GROWTH = 1.15;
const GROWTH_RUNS = 30;

export function simulate(profile: Profile, plan: Plan): Result {
  return new Simulation(profile, plan).run();
}

class Simulation {
  readonly #profile: Profile;
  readonly #plan: Plan;
  readonly #events = new EventQueue();
  /** Separate sequence for arrivals, so that they are the same for every installation. */
  readonly #load: Random;
  readonly #latency: Random;
  readonly #firestore: FirestoreModel;
  readonly #api: Instances;
  readonly #drives: Instances;
  readonly #queues: TaskQueue<Run>[];
  readonly #overdue: Run[] = [];
  readonly #runMs: number[] = [];
  readonly #waitMs: number[] = [];
  readonly #floodingMs: number[] = [];
  readonly #othersMs: number[] = [];
  #started = 0;
  #ended = 0;
  #foundByScan = 0;

  constructor(profile: Profile, plan: Plan) {
    this.#profile = profile;
    this.#plan = plan;
    this.#load = new Random(plan.seed);
    this.#latency = new Random(-plan.seed);
    this.#firestore = new FirestoreModel({
      rangePerSecond: LIMITS.rangePerSecond.value,
      documentPerSecond: LIMITS.documentPerSecond.value,
      documentBurst: LIMITS.documentBurst.value,
      shards: plan.shards,
      ...(plan.isNew
        ? {
            ramp: {
              start: LIMITS.rampStart.value,
              growth: LIMITS.rampGrowth.value,
              stepMs: LIMITS.rampStepMs.value,
            },
          }
        : {}),
    });
    const common = {
      coldStartMs: LIMITS.coldStartMs.value,
      pendingMs: LIMITS.pendingMs.value,
      scaleEveryMs: LIMITS.scaleEveryMs.value,
      cpuTarget: LIMITS.cpuTarget.value,
    };
    const apiLimits = { ...common, concurrency: LIMITS.apiConcurrency.value, max: plan.apiInstances };
    const driveLimits = { ...common, concurrency: plan.concurrency, max: plan.instances };
    const needed = ceilingOfInstances(profile, plan);
    this.#api = new Instances(this.#events, apiLimits, plan.warm ?? needed.api);
    this.#drives = new Instances(this.#events, driveLimits, plan.warm ?? needed.drives);
    this.#queues = this.#makeQueues();
  }

  run(): Result {
    const { forMs, restMs, rate, flood } = this.#plan;
    this.#arrive(rate, () => this.#load.index(this.#plan.tenants));
    if (flood > 0) this.#arrive(flood, () => 0);
    if (this.#plan.lost > 0) this.#scanLater();
    this.#events.run(forMs / 2);
    const backlogAtHalf = this.#started - this.#ended;
    this.#events.run(forMs);
    const backlogAtEnd = this.#started - this.#ended;
    this.#events.run(forMs + restMs);
    return {
      started: this.#started,
      ended: this.#ended,
      waiting: this.#started - this.#ended,
      backlogAtHalf,
      backlogAtEnd,
      run: percentilesOf(this.#runMs),
      wait: percentilesOf(this.#waitMs),
      waitOfFlooding: percentilesOf(this.#floodingMs),
      waitOfOthers: percentilesOf(this.#othersMs),
      held: this.#held(),
      instances: this.#drives.started,
      instanceSeconds: this.#drives.busyUntil(this.#events.now) / 1000,
      apiSeconds: this.#api.busyUntil(this.#events.now) / 1000,
      refused: this.#drives.refusals + this.#api.refusals,
      foundByScan: this.#foundByScan,
      holds: backlogAtEnd <= backlogAtHalf * GROWTH + GROWTH_RUNS,
    };
  }

  #makeQueues(): TaskQueue<Run>[] {
    const { queues, queueConcurrent: concurrent } = this.#plan;
    const limits = {
      dispatchesPerSecond: LIMITS.queueDispatches.value,
      concurrent,
      burst: LIMITS.queueBurst.value,
      minBackoffMs: LIMITS.minBackoffMs.value,
      maxBackoffMs: LIMITS.maxBackoffMs.value,
    };
    return Array.from({ length: queues }, () => {
      const queue: TaskQueue<Run> = new TaskQueue(this.#events, limits, (run) =>
        this.#dispatched(run, queue),
      );
      return queue;
    });
  }

  /** Independent starts, `perSecond` on average. */
  #arrive(perSecond: number, tenantOf: () => number): void {
    const next = () => {
      const at = this.#events.now - (Math.log(1 - this.#load.unit()) * 1000) / perSecond;
      if (at > this.#plan.forMs) return;
      this.#events.add(at, () => {
        this.#request(tenantOf());
        next();
      });
    };
    next();
  }

  #request(tenant: number): void {
    const { queues, queuesPerTenant: perTenant, shards, lost } = this.#plan;
    this.#started += 1;
    const placed = { runId: `run ${this.#started}`, tenantId: tenantId(tenant) };
    const run: Run = {
      tenant,
      shard: this.#load.index(shards),
      documents: new Map(),
      requestedAt: this.#events.now,
      enqueuedAt: 0,
      dispatch: 0,
      queue: queuePlace({ queues, perTenant }, placed),
      isLost: this.#load.unit() < lost,
    };
    this.#enterApi(run);
  }

  #enterApi(run: Run): void {
    this.#api.enter(
      (instance) => {
        const readyAt = this.#events.now + this.#api.compute(instance, LIMITS.startCpuMs.value);
        this.#events.add(readyAt, () =>
          this.#perform(this.#profile.start, { run, instance, pool: this.#api }, () => {
            this.#api.leave(instance);
            this.#enqueue(run, run.isLost);
          }),
        );
      },
      () => this.#events.add(this.#events.now + CALLER_AGAIN_MS, () => this.#enterApi(run)),
    );
  }

  #enqueue(run: Run, isLost: boolean): void {
    run.enqueuedAt = this.#events.now;
    if (isLost) {
      this.#events.add(this.#events.now + this.#profile.overdueMs, () => this.#overdue.push(run));
      return;
    }
    const queue = this.#queues[run.queue];
    this.#events.add(this.#events.now + LIMITS.queueDispatchMs.value, () => queue?.add(run));
  }

  #scanLater(): void {
    this.#events.add(this.#events.now + LIMITS.scanEveryMs.value, () => {
      const perTick = (LIMITS.scanPerSecond.value * LIMITS.scanForMs.value) / 1000;
      for (const [n, run] of this.#overdue.splice(0, perTick).entries()) {
        this.#foundByScan += 1;
        const queue = this.#queues[run.queue];
        this.#events.add(this.#events.now + (n * 1000) / LIMITS.scanPerSecond.value, () => queue?.add(run));
      }
      this.#scanLater();
    });
  }

  #dispatched(run: Run, queue: TaskQueue<Run>): void {
    this.#drives.enter(
      (instance) => {
        if (run.dispatch === 0) this.#noteWait(run);
        const dispatch = this.#profile.dispatches[run.dispatch];
        const place = { run, instance, pool: this.#drives };
        this.#play(dispatch, 0, place, () => {
          this.#drives.leave(instance);
          run.dispatch += 1;
          queue.done(run);
          if (run.dispatch < this.#profile.dispatches.length) this.#enqueue(run, false);
          else this.#end(run);
        });
      },
      () => queue.refused(run),
    );
  }

  #noteWait(run: Run): void {
    const ms = this.#events.now - run.enqueuedAt;
    this.#waitMs.push(ms);
    (run.tenant === 0 ? this.#floodingMs : this.#othersMs).push(ms);
  }

  #end(run: Run): void {
    this.#ended += 1;
    this.#runMs.push(this.#events.now - run.requestedAt);
  }

  #play(dispatch: Dispatch | undefined, n: number, place: Place, then: () => void): void {
    const stage = dispatch?.stages[n];
    const next = stage ? () => this.#play(dispatch, n + 1, place, then) : then;
    if (stage?.kind === 'ops') {
      this.#perform(stage.ops, place, next);
      return;
    }
    const { now } = this.#events;
    for (const { afterMs, op } of stage?.beside ?? []) {
      this.#events.add(now + afterMs, () => void this.#delay(op, place));
    }
    if (stage === undefined || stage.ms === 0) next();
    else this.#events.add(now + stage.ms, next);
  }

  #perform(ops: readonly Op[], place: Place, then: () => void, n = 0): void {
    const op = ops[n];
    if (!op) {
      then();
      return;
    }
    this.#events.add(this.#events.now + this.#delay(op, place), () => this.#perform(ops, place, then, n + 1));
  }

  /** Total duration of the request, ms. */
  #delay(op: Op, { run, instance, pool }: Place): number {
    const { readMs, commitMs, spread } = this.#plan;
    const computed = pool.compute(instance, LIMITS.requestCpuMs.value);
    const median = op.kind === 'read' ? readMs : commitMs;
    return (
      computed + this.#firestore.delayOf(op, run, this.#events.now) + this.#latency.around(median, spread)
    );
  }

  /** Limits with wait time, longest first. */
  #held(): Held[] {
    const queues = { rate: 0, concurrent: 0 };
    for (const { waitedMs } of this.#queues) {
      queues.rate += waitedMs.rate;
      queues.concurrent += waitedMs.concurrent;
    }
    const rows: [string, number][] = [
      ...this.#firestore.held,
      ['queue: dispatches a second', queues.rate],
      ['queue: dispatches at a time', queues.concurrent],
      ['drive: instances', this.#drives.waitedMs.room],
      ['drive: processors', this.#drives.waitedMs.cpu],
      ['api: instances', this.#api.waitedMs.room],
      ['api: processors', this.#api.waitedMs.cpu],
    ];
    return rows
      .filter(([, ms]) => ms > 0)
      .map(([limit, ms]) => ({ limit, ms }))
      .sort((a, b) => b.ms - a.ms);
  }
}

interface Place {
  readonly run: Run;
  readonly instance: Instance;
  readonly pool: Instances;
}

function percentilesOf(values: readonly number[]): Percentiles | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: sorted.at(-1) as number };
}
