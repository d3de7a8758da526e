/**
 * A deployment of another definition during a trial: all processes are replaced by ones that have it, and later by ones with
 * the original definition.
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
 * `changed`: the new definition has the version of the replaced one. `gone`: it has the next version, and the earlier one is no
 * longer deployed. `beside`: it has the next version, and the earlier one is still deployed.
 */
const WAYS = ['changed', 'changed', 'gone', 'beside'] as const;
export type Way = (typeof WAYS)[number];

export interface Surroundings {
  readonly cluster: Cluster;
  readonly db: MemoryDatabase;
  readonly draw: Draw;
  /** Programs by type. */
  readonly programs: ReadonlyMap<string, Program>;
  readonly workflows: readonly Workflow[];
}

const HOUR = 3_600_000;
/** Maximum number of events of all runs before the deployment. Most programs have some dozens. */
const MAX_EVENTS_BEFORE = 40;

export class Redeploys {
  readonly #surroundings: () => Surroundings;
  readonly #original: WorkflowRegistry;
  /** Number of events at which the deployment comes; undefined: it has come. */
  #at: number | undefined;
  #way: Way | undefined;
  /** The registry of new processes. */
  registry: WorkflowRegistry;
  /** Changes made, and outcomes of runs meanwhile: "changed by rename", "blocked for PLAN_CHANGED". */
  readonly met = new Set<string>();
  /** The first action of a definition on which no run was started. */
  failure: unknown;

  constructor(draw: Draw, workflows: readonly Workflow[], surroundings: () => Surroundings) {
    this.#surroundings = surroundings;
    this.#original = new WorkflowRegistry(workflows);
    this.registry = this.#original;
    this.#at = draw.between(1, MAX_EVENTS_BEFORE);
  }

  /** Call after each move. A move makes one call of a process, so a deployment may come between any two commits. */
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
    // The first start fixes the definition of a version, and children start on the newest version.
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
    // The process that carried this out may have died afterwards.
    if (this.#way === undefined) return;
    this.#way = undefined;
    this.registry = this.#original;
    this.#surroundings().cluster.redeploy('what was there before');
  }

  /** A stage whose bodies no run may call. */
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
