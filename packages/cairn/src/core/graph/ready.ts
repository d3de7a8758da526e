/**
 * Owns what can be done next in a graph, given the state of its steps, at a cost that does not grow with the run.
 *
 * Must not: start anything, or evaluate a step's `when`.
 */
import type { Graph, GraphNode } from './graph.ts';
import { PositionSet } from './position-set.ts';

/**
 * `pending` not begun · `open` begun, waiting or awaiting a retry · `done` succeeded, degraded or reused ·
 * `skipped` · `failed` for good.
 */
export type NodeState = 'pending' | 'open' | 'done' | 'skipped' | 'failed';

/** Effect of a need's state on a dependent step. */
type NeedState = 'satisfied' | 'unsatisfied' | 'skips';

/** Per step: its state, and the number of unfinished and of skipped needs. */
interface Tracked {
  readonly node: GraphNode;
  readonly position: number;
  state: NodeState;
  unsatisfied: number;
  skips: number;
}

/**
 * Tracks which steps can start, and which must be skipped. A change of a step costs work only for its direct dependents, so step
 * 5,000 of a chain costs as much as step 10.
 */
export class ReadyTracker {
  readonly #graph: Graph;
  readonly #tracked = new Map<string, Tracked>();
  readonly #ready = new PositionSet();
  readonly #skippable = new PositionSet();

  constructor(graph: Graph, stateOf: (id: string) => NodeState) {
    this.#graph = graph;
    graph.order.forEach((id, position) => {
      const node = graph.node(id);
      const tracked: Tracked = { node, position, state: stateOf(id), unsatisfied: 0, skips: 0 };
      for (const need of node.needs) count(tracked, bearing(this.#of(need).state, node), 1);
      this.#tracked.set(id, tracked);
      this.#place(tracked);
    });
  }

  stateOf(id: string): NodeState {
    return this.#of(id).state;
  }

  /**
   * Steps that can start, in order: pending, with every need done, or skipped if the step has `ifSkipped: 'run'`.
   *
   * @param limit at most this many, so that a wide graph is not copied to take a few
   */
  ready(limit = Number.POSITIVE_INFINITY): string[] {
    return this.#ids(this.#ready, limit);
  }

  /**
   * Steps to skip, in order: pending, with a skipped need, and without `ifSkipped: 'run'`. One skipped need is enough; the others
   * are not awaited. Skipping these steps may make more steps skippable.
   */
  skippable(): string[] {
    return this.#ids(this.#skippable, Number.POSITIVE_INFINITY);
  }

  /** Records the new state of a step. Any change is possible, also back to `pending` (a retry, a further revision). */
  settle(id: string, state: NodeState): void {
    const tracked = this.#of(id);
    const before = tracked.state;
    if (before === state) return;
    tracked.state = state;
    this.#place(tracked);
    for (const dependentId of this.#graph.dependents(id)) {
      const dependent = this.#of(dependentId);
      count(dependent, bearing(before, dependent.node), -1);
      count(dependent, bearing(state, dependent.node), 1);
      this.#place(dependent);
    }
  }

  #place(tracked: Tracked): void {
    const pending = tracked.state === 'pending';
    move(this.#ready, tracked.position, pending && tracked.unsatisfied === 0 && tracked.skips === 0);
    move(this.#skippable, tracked.position, pending && tracked.skips > 0);
  }

  #of(id: string): Tracked {
    const tracked = this.#tracked.get(id);
    if (tracked === undefined) throw new RangeError(`the graph has no step "${id}"`);
    return tracked;
  }

  #ids(positions: PositionSet, limit: number): string[] {
    return positions.lowest(limit).map((position) => this.#graph.order[position] ?? '');
  }
}

function bearing(needState: NodeState, dependent: GraphNode): NeedState {
  if (needState === 'done') return 'satisfied';
  if (needState !== 'skipped') return 'unsatisfied';
  return dependent.ifSkipped === 'run' ? 'satisfied' : 'skips';
}

function count(tracked: Tracked, of: NeedState, by: 1 | -1): void {
  if (of === 'unsatisfied') tracked.unsatisfied += by;
  if (of === 'skips') tracked.skips += by;
}

function move(set: PositionSet, position: number, belongs: boolean): void {
  if (belongs) set.add(position);
  else set.delete(position);
}
