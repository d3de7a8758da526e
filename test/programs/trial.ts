/**
 * One trial: a random program runs under every possible fault, must end, and is judged. A failure reports how to repeat it,
 * with the program and the journals.
 */
import type { EventType, RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { isOver, type RunState } from '../../packages/cairn/src/core/run/state.ts';
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import type { RunDocuments } from '../../packages/cairn/src/memory/memory-database.ts';
import type { SnapshotTouch } from '../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';
import { Cluster } from './chaos/cluster.ts';
import { planCancel, planPause, planStart, planSuspension } from './chaos/operators.ts';
import { FAILS, People } from './chaos/people.ts';
import { WatchedStage } from './chaos/stage.ts';
import { drawTrouble, LEASE_MS, type Trouble } from './chaos/trouble.ts';
import type { Sabotage } from './chaos/worker.ts';
import { Draw } from './data/draw.ts';
import { generate, type Repertoire } from './data/generate.ts';
import { allPrograms, type Program } from './data/program.ts';
import { workflowOf } from './data/workflow-of.ts';
import { familyOf } from './family.ts';
import { Holdings } from './held-outputs.ts';
import { judge } from './judge.ts';
import { assertLively } from './liveness.ts';
import { Redeploys } from './redeploy/redeploys.ts';
import { report } from './report.ts';

export interface TrialOptions {
  readonly seed: number;
  readonly repertoire: Repertoire;
  /** True if other definitions are deployed meanwhile. */
  readonly redeploys?: boolean;
  /** Breaks the processes' view of the world, to prove that the trial detects it. */
  readonly sabotage?: Sabotage;
  /** Inspects the world whenever it is idle, and must not change it. */
  readonly watch?: (world: World) => Promise<void>;
}

/** Limit of moves for each run. A run that has not ended by then never will. */
const MAX_TURNS = 20_000;
/** Longer than all waits of any of these programs in sequence. */
const MAX_MS = 400 * 24 * 3_600_000;
const TENANT = 't1';
/** Share of trials in which an operator suspends a run. */
const SUSPENDED = 0.15;

/** An event of a journal, or a detail of one. */
export type Met = EventType | 'polled' | 'failed_from_outside';

export interface TrialResult {
  /** End of each run. */
  readonly ends: readonly string[];
  /** All events and details of all runs. */
  readonly met: ReadonlySet<Met>;
  readonly redeploys: ReadonlySet<string>;
  /** Maximum of output bytes that a dispatch has kept at one time. */
  readonly mostBytes: number;
}

/** @throws Error with everything needed to investigate the failure */
export async function trial(options: TrialOptions): Promise<TrialResult> {
  const underWay = new Trial(options);
  const watch = underWay.holdings.watch();
  try {
    await underWay.run();
    return await underWay.judge();
  } catch (error) {
    throw underWay.told(error);
  } finally {
    watch.stop();
  }
}

class Trial {
  readonly holdings: Holdings;
  readonly #seed: number;
  readonly #program: Program;
  readonly #programs: ReadonlyMap<string, Program>;
  readonly #world: World;
  readonly #trouble: Trouble;
  readonly #cluster: Cluster;
  readonly #stage: WatchedStage;
  readonly #people: People;
  readonly #redeploys: Redeploys | undefined;
  readonly #watch: NonNullable<TrialOptions['watch']>;
  /** Last `wakeAt` of each run set by a scan. */
  readonly #movedTo = new Map<string, number>();

  constructor({
    seed,
    repertoire,
    redeploys = false,
    sabotage = (deps) => deps,
    watch = async () => {},
  }: TrialOptions) {
    this.#seed = seed;
    this.#watch = watch;
    this.#program = generate(seed, repertoire);
    this.#programs = new Map([...allPrograms(this.#program)].map((program) => [program.type, program]));
    // The program has a stream of its own, so that a change of one does not alter the other.
    const draw = new Draw(seed * 7_919 + 1);
    const trouble = drawTrouble(draw);
    // Each deployment interrupts bodies like a termination. With more of both, a run would end because it loses its workers.
    this.#trouble = redeploys ? { ...trouble, kills: Math.min(trouble.kills, 1), terminations: 0 } : trouble;
    this.#stage = new WatchedStage(draw, () => ({
      db: this.#world.db,
      clock: this.#world.clock,
      stoodStill: () => this.#cluster.stoodStill,
    }));
    const workflows = [...this.#programs.values()].map((program) => workflowOf(program, this.#stage));
    this.#world = new World({
      workflows,
      settings: { leaseMs: LEASE_MS, ...(draw.chance(0.3) ? { budgetMs: 100_000 } : {}) },
      seed,
    });
    const { clock, queue, db, deps, records, config, statistics, planStore } = this.#world;
    this.holdings = new Holdings(db, this.#programs);
    const swapped = new Draw(seed * 7_919 + 5);
    this.#redeploys = redeploys
      ? new Redeploys(swapped, workflows, () => ({
          cluster: this.#cluster,
          db,
          draw: swapped,
          programs: this.#programs,
          workflows,
        }))
      : undefined;
    const registryNow = () => this.#redeploys?.registry ?? deps.registry;
    const shared = {
      ...deps,
      store: this.#watched(deps.store),
      records,
      config,
      statistics,
      planStore,
      // Each process reads this when it starts.
      get registry() {
        return registryNow();
      },
    };
    this.#cluster = new Cluster({ clock, queue, db, deps: shared, sabotage }, draw, this.#trouble);
    const outside = { cluster: this.#cluster, db, draw, programs: this.#programs, tenantId: TENANT };
    this.#people = new People(outside);
    planStart(outside, this.#program, seed);
    if (this.#trouble.cancels) planCancel(outside);
    if (this.#trouble.pauses) planPause(outside, this.#program);
    const more = new Draw(seed * 7_919 + 13);
    if (more.chance(SUSPENDED)) planSuspension({ ...outside, draw: more });
  }

  async run(): Promise<void> {
    const { clock, db } = this.#world;
    const deadline = clock.now() + MAX_MS;
    for (let turn = 0; !this.#isDone(); turn += 1) {
      this.#people.look();
      const goesOn = this.#cluster.turn();
      await settle();
      await this.#watch(this.#world);
      this.#redeploys?.look();
      const failure = this.#cluster.failure ?? this.#stage.failure ?? this.#redeploys?.failure;
      if (failure) throw failure;
      if (this.holdings.failure) throw this.holdings.failure;
      if (!goesOn) throw new Error('stuck: nothing can ever happen again');
      if (turn >= MAX_TURNS * (1 + db.runs.size) || clock.now() > deadline)
        throw new Error('stuck: it goes on and on');
    }
    await this.#deliverLeftovers();
    await this.#watch(this.#world);
  }

  async judge(): Promise<TrialResult> {
    const { db } = this.#world;
    const ends: string[] = [];
    const met = new Set<Met>();
    for (const [runId, run] of db.runs) {
      assertLively(run.events);
      const state = assertStored(db, runId, this.#movedTo.get(runId));
      const program = this.#programs.get(state.type) as Program;
      for (const event of run.events) for (const what of metIn(event)) met.add(what);
      const resultText = await this.#resultOf(run);
      const mayBeCancelled = this.#mayBeCancelled(state);
      const mayLackPlan = this.#redeploys !== undefined;
      const family = familyOf(db, runId);
      ends.push(judge({ program, family, run, state, resultText, mayBeCancelled, mayLackPlan }));
    }
    return { ends, met, redeploys: this.#redeploys?.met ?? new Set(), mostBytes: this.holdings.mostBytes };
  }

  async #resultOf({ snapshot, checkpoints }: RunDocuments): Promise<string | undefined> {
    const { outputText, outputRef } = checkpoints.get(snapshot.checkpointHead) ?? {};
    return outputRef ? this.#world.store.readPayload(snapshot.id, outputRef) : outputText;
  }

  told(error: unknown): Error {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const { trail } = this.#cluster;
    const findings = { seed: this.#seed, problem, program: this.#program, db: this.#world.db, trail };
    return new Error(report(findings), { cause: error });
  }

  /** True if all runs have ended, without unfinished duties. */
  #isDone(): boolean {
    const runs = [...this.#world.db.runs.values()];
    return (
      this.#cluster.idle &&
      runs.length > 0 &&
      runs.every(({ snapshot, wakeAt }) => isOver(snapshot) && wakeAt === undefined)
    );
  }

  /** Delivers the remaining tasks, which must change nothing after the end. */
  async #deliverLeftovers(): Promise<void> {
    const { queue, deps, db } = this.#world;
    const heads = () => [...db.runs.values()].map(({ events }) => events.length).join();
    const before = heads();
    for (let task = queue.take(); task; task = queue.take()) {
      const end = await drive(deps, task);
      if (end !== 'over') throw new Error(`a task after the end of its run: '${end}'`);
    }
    if (heads() !== before) throw new Error('a task after the end of its run has changed it');
  }

  #mayBeCancelled(state: RunState): boolean {
    if (!state.parent) return this.#trouble.cancels;
    // Children of an ended parent are cancelled, and so are those of steps that were sent back.
    const parent = this.#world.db.runs.get(state.parent.runId);
    const sentBack = parent?.events.some(({ type }) => type === 'feedback_given');
    return sentBack || parent?.snapshot.status !== 'completed';
  }

  #watched(store: EngineDeps['store']): EngineDeps['store'] {
    return intercept(store, ({ method, args }, proceed) => {
      const { runId, wakeAt } =
        method === 'touch' ? (args[0] as SnapshotTouch) : { runId: '', wakeAt: undefined };
      if (wakeAt !== undefined) this.#movedTo.set(runId, Math.max(wakeAt, this.#movedTo.get(runId) ?? 0));
      return proceed();
    });
  }
}

function metIn(event: RunEvent): Met[] {
  const { type, data } = event;
  if (type === 'step_retry_scheduled' && data.polled) return [type, 'polled'];
  if (type === 'wait_resolved' && data.signalId?.startsWith(`${FAILS} `))
    return [type, 'failed_from_outside'];
  return [type];
}
