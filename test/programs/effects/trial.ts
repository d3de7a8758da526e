/**
 * One trial: a random lineage of runs with external actions, under every possible fault. It must end, journal and ledger must
 * agree, and the receiver's records must show no repeated and no missing action.
 */
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { checkConsistency } from '../../../packages/cairn/src/operations/integrity/check.ts';
import { pause } from '../../../packages/cairn/src/ports/clock.ts';
import type { SnapshotTouch } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../../support/intercept.ts';
import { MemoryIntegrityStore } from '../../support/memory/memory-integrity-store.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';
import { Cluster } from '../chaos/cluster.ts';
import { planCancel, planStart } from '../chaos/operators.ts';
import { drawTrouble, type Trouble } from '../chaos/trouble.ts';
import type { Sabotage, SharedDeps } from '../chaos/worker.ts';
import { Draw } from '../data/draw.ts';
import { report } from '../report.ts';
import { generate } from './generate.ts';
import { judge, settledTypes } from './judge.ts';
import { bindingsTo } from './outside.ts';
import { People } from './people.ts';
import { allPrograms, type Program } from './plan.ts';
import { Receiver } from './receiver.ts';
import { workflowOf } from './workflow.ts';

export interface TrialOptions {
  readonly seed: number;
  /** Breaks the processes' view of the world, to prove that the trial detects it. */
  readonly sabotage?: Sabotage;
}

export interface EffectTrialResult {
  readonly ends: readonly string[];
  /** Types of all events of the runs; those of effects with their outcomes. */
  readonly met: ReadonlySet<string>;
  /** Number of effects that took place. */
  readonly applied: number;
}

const MAX_TURNS = 20_000;
/** Longer than any possible wait of these lineages. */
const MAX_MS = 60 * 24 * 3_600_000;
/** Number of waits for answers whose caller is gone. */
const MAX_LATE = 300;
const TENANT = 't1';

interface Shared extends SharedDeps {
  /** The receiver behind the gate, like everything outside of a process. */
  readonly arrivals: Pick<Receiver, 'arrive' | 'look'>;
}

/** @throws Error with everything needed to investigate the failure */
export async function trial(options: TrialOptions): Promise<EffectTrialResult> {
  const underWay = new Trial(options);
  try {
    await underWay.run();
    return await underWay.judge();
  } catch (error) {
    throw underWay.told(error);
  }
}

/** Mark of a lineage in which a person was asked before the first call. */
export const ASKED_FIRST = 'asked first';

class Trial {
  readonly #seed: number;
  readonly #program: Program;
  readonly #programs: ReadonlyMap<string, Program>;
  readonly #world: World;
  readonly #trouble: Trouble;
  readonly #cluster: Cluster;
  readonly #receiver: Receiver;
  readonly #people: People;
  readonly #movedTo = new Map<string, number>();

  constructor({ seed, sabotage = (deps) => deps }: TrialOptions) {
    this.#seed = seed;
    this.#program = generate(seed);
    this.#programs = new Map([...allPrograms(this.#program)].map((program) => [program.type, program]));
    const draw = new Draw(seed * 7_919 + 3);
    this.#trouble = {
      ...drawTrouble(draw),
      lateRate: draw.chance(0.5) ? 0.05 : 0,
      cancels: draw.chance(0.12),
    };
    const spend = async (signal: AbortSignal) => {
      const ms = draw.weighted([
        [8, 0],
        [3, draw.below(300)],
        [1, draw.below(8_000)],
      ]);
      if (ms > 0) await pause(this.#world.clock, ms, signal);
    };
    const isSuccessor = (runId: string) => this.#world.db.runs.get(runId)?.snapshot.source !== undefined;
    this.#world = new World({
      workflows: [...this.#programs.values()].map((program) => workflowOf(program, { spend, isSuccessor })),
      bindings: bindingsTo({} as Receiver, {} as Receiver, () => false).all,
      settings: draw.chance(0.3) ? { budgetMs: 100_000 } : {},
      seed,
    });
    const { clock, queue, db, deps, records, config, statistics, planStore } = this.#world;
    this.#receiver = new Receiver(draw, clock);
    const shared: Shared = {
      ...deps,
      store: this.#watched(deps.store),
      records,
      config,
      statistics,
      planStore,
      arrivals: this.#receiver,
    };
    const equipped: Sabotage = (own, isAlive) => {
      const { arrivals } = own as Shared;
      return sabotage({ ...own, bindings: bindingsTo(this.#receiver, arrivals, isAlive) }, isAlive);
    };
    this.#cluster = new Cluster({ clock, queue, db, deps: shared, sabotage: equipped }, draw, this.#trouble);
    const installation = { cluster: this.#cluster, db, draw, tenantId: TENANT };
    const successors = draw.weighted([
      [3, 0],
      [4, 1],
      [3, 2],
      [2, 3],
    ]);
    this.#people = new People({
      ...installation,
      receiver: this.#receiver,
      program: this.#program,
      successors,
    });
    planStart(
      installation,
      { ...this.#program, result: [], onDoubt: 'ask', policy: 'none', steps: [] },
      seed % 3,
    );
    if (this.#trouble.cancels) planCancel(installation);
  }

  async run(): Promise<void> {
    const { clock, db } = this.#world;
    const deadline = clock.now() + MAX_MS;
    for (let turn = 0; !this.#isDone(); turn += 1) {
      this.#people.look();
      const goesOn = this.#cluster.turn();
      await settle();
      if (this.#cluster.failure) throw this.#cluster.failure;
      if (!goesOn && !this.#people.busy) throw new Error('stuck: nothing can ever happen again');
      if (turn >= MAX_TURNS * (1 + db.runs.size) || clock.now() > deadline)
        throw new Error('stuck: it goes on and on');
    }
    await this.#hearTheLast();
  }

  async judge(): Promise<EffectTrialResult> {
    const { db } = this.#world;
    const ends: string[] = [];
    const met = new Set<string>();
    for (const { record } of db.effects.values())
      if (record.blockedBy === 'confirmation') met.add(ASKED_FIRST);
    for (const [runId, { events }] of db.runs) {
      const { status } = assertStored(db, runId, this.#movedTo.get(runId));
      ends.push(status);
      for (const type of settledTypes(events)) met.add(type);
      await this.#assertConsistent(runId, status);
    }
    const { allowed, failed } = this.#people;
    const mayBeCancelled = this.#trouble.cancels;
    judge({ db, receiver: this.#receiver, programs: this.#programs, allowed, failed, mayBeCancelled });
    return { ends, met, applied: this.#receiver.applied.length };
  }

  /**
   * Checks that journal, documents and ledger agree. The outcome of an action may be unknown in a run that ended badly, in a
   * step that a person had fail, or in an item of a set that failed for another reason.
   */
  async #assertConsistent(runId: string, status: string): Promise<void> {
    const { db, clock, deps, store } = this.#world;
    const reader = new MemoryIntegrityStore(db);
    const check = { clock, random: deps.random, reader, payloads: store };
    const { problems } = await checkConsistency(check, { runId, tenantId: TENANT });
    const mayDoubt = status !== 'completed' || this.#people.failed.has(runId);
    const found = problems.filter(
      ({ code, subject }) =>
        code !== 'EFFECT_IN_DOUBT_AT_END' ||
        !(mayDoubt || this.#isOfFailedSet(subject.slice('effects/'.length))),
    );
    if (found.length > 0) throw new Error(`check of run ${runId}: ${JSON.stringify(found)}`);
  }

  #isOfFailedSet(effectId: string): boolean {
    const { db } = this.#world;
    const { itemKey, stepId = '', runId = '' } = db.effects.get(effectId)?.record ?? {};
    const step = db.runs.get(runId)?.snapshot.steps.get(stepId);
    return itemKey !== undefined && step?.phase === 'done' && step.outcome !== 'succeeded';
  }

  told(error: unknown): Error {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const { trail } = this.#cluster;
    const { db } = this.#world;
    const findings = { seed: this.#seed, problem, program: this.#program, db, trail };
    const rows = [...db.effects.values()].map(({ record }) => `  ${JSON.stringify(record)}`);
    const done = this.#receiver.applied.map((one) => `  ${JSON.stringify(one)}`);
    const documented = [report(findings), 'rows:', ...rows, 'done:', ...done].join('\n');
    return new Error(documented, { cause: error });
  }

  #isDone(): boolean {
    const runs = [...this.#world.db.runs.values()];
    return (
      this.#cluster.idle &&
      !this.#people.busy &&
      runs.length > 0 &&
      runs.every(({ snapshot, wakeAt }) => isOver(snapshot) && wakeAt === undefined)
    );
  }

  /** Waits for calls that may still answer after everything has ended. */
  async #hearTheLast(): Promise<void> {
    const { clock } = this.#world;
    for (let i = 0; i < MAX_LATE && clock.nextAt !== undefined; i += 1) {
      clock.fireNext(clock.nextAt);
      await settle();
      while (!this.#cluster.idle) {
        this.#cluster.turn();
        await settle();
      }
    }
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
