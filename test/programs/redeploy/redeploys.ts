/**
 * A deployment of another definition in the middle of a trial: all processes are replaced by ones that have it, and after a
 * while by ones that have what was there before.
 */
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import type { Cluster } from '../chaos/cluster.ts';
import type { Stage } from '../data/bodies.ts';
import type { Draw } from '../data/draw.ts';
import type { Program } from '../data/program.ts';
import { workflowOf } from '../data/workflow-of.ts';
import { mutated } from './mutate.ts';

/**
 * `changed`: it has the version of what it replaces. `gone`: it has the next version, and the one before is no longer
 * deployed. `beside`: it has the next version, and the one before stands beside it.
 */
const WAYS = ['changed', 'changed', 'gone', 'beside'] as const;
export type Way = (typeof WAYS)[number];

export interface Surroundings {
  readonly cluster: Cluster;
  readonly db: MemoryDatabase;
  readonly draw: Draw;
  /** By type. */
  readonly programs: ReadonlyMap<string, Program>;
  readonly workflows: readonly Workflow[];
}

const HOUR = 3_600_000;
/** Events of all runs before it: most programs come to some dozens. */
const MAX_EVENTS_BEFORE = 40;

export class Redeploys {
  readonly #surroundings: () => Surroundings;
  readonly #original: WorkflowRegistry;
  /** It comes once there are so many events; undefined: it has come. */
  #at: number | undefined;
  #way: Way | undefined;
  /** The registry of new processes. */
  registry: WorkflowRegistry;
  /** Changes made, and outcomes of runs meanwhile: "changed by rename", "blocked for PLAN_CHANGED". */
  readonly met = new Set<string>();
  /** The first thing that a definition did that no run is on. */
  failure: unknown;

  constructor(draw: Draw, workflows: readonly Workflow[], surroundings: () => Surroundings) {
    this.#surroundings = surroundings;
    this.#original = new WorkflowRegistry(workflows);
    this.registry = this.#original;
    this.#at = draw.between(1, MAX_EVENTS_BEFORE);
  }

  /** Call after each move: a move makes one call of a process, so a redeploy comes between any two commits. */
  look(): void {
    const { db } = this.#surroundings();
    for (const { snapshot } of db.runs.values()) {
      if (snapshot.parked !== undefined) this.#parked(snapshot.parked);
    }
    let events = 0;
    for (const run of db.runs.values()) events += run.events.length;
    if (this.#at !== undefined && events >= this.#at) this.#swap();
  }

  #parked(reason: string): void {
    this.met.add(`blocked for ${reason}`);
    if (this.#way === 'beside')
      this.failure ??= new Error(`a run is blocked for ${reason} beside its version`);
  }

  #swap(): void {
    const { cluster, db, draw, programs, workflows } = this.#surroundings();
    const way = draw.pick(WAYS);
    const [root] = programs.values();
    // A version of which no run was started is whatever starts first, and children start on the newest.
    const started = [...programs.values()].filter(({ type }) =>
      [...db.plans.values()].some((plan) => plan.type === type),
    );
    const target = way === 'changed' ? draw.pick(started) : (root as Program);
    const { program, by } = mutated(target, draw);
    const another = workflowOf(program, this.#forbidden(`${way} by ${by}`), way === 'changed' ? 1 : 2);
    const kept = workflows.filter(({ type }) => way === 'beside' || type !== target.type);
    this.#at = undefined;
    this.#way = way;
    this.registry = new WorkflowRegistry([...kept, another]);
    this.met.add(`${way} by ${by}`);
    cluster.redeploy(`${target.type} ${way} by ${by}`);
    const back = cluster.now + (draw.chance(0.5) ? draw.below(60_000) : draw.below(2 * HOUR));
    cluster.plan(back, { label: 'deploy what was there before', work: async () => this.#restore() });
  }

  #restore(): void {
    // The process that had it to do may have died after it was done.
    if (this.#way === undefined) return;
    this.#way = undefined;
    this.registry = this.#original;
    this.#surroundings().cluster.redeploy('what was there before');
  }

  /** Plays bodies that no run may call. */
  #forbidden(what: string): Stage {
    const fail = () => {
      const error = new Error(`a run was driven by a definition that it was not started on (${what})`);
      this.failure ??= error;
      throw error;
    };
    return {
      spend: async () => fail(),
      began: fail,
      fresh: fail,
      recalled: fail,
      now: fail,
      heedsSignal: fail,
    };
  }
}
