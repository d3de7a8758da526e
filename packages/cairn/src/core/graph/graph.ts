/**
 * Owns the shape of a workflow: validation of its steps, their order, who depends on whom. What is ready at a given
 * moment is in ready.ts.
 *
 * Must not: know what a step does or the state of a run.
 */
import { invalidInput } from '../errors.ts';
import { PositionSet } from './position-set.ts';

/** Maximum of steps of a workflow: so many finished steps fit into a snapshot of 1 MiB. */
export const MAX_STEPS = 10_000;

/** Letters, digits and `_.-`: valid in a document path. `[` is reserved for items of a map. */
const STEP_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

export interface GraphNode {
  readonly id: string;
  /** Ids of the steps whose outputs it takes. An id may be named twice. */
  readonly needs: readonly string[];
  /** Handling of a skipped need. Default: `skip`. */
  readonly ifSkipped?: 'skip' | 'run' | undefined;
}

/** A validated graph. Immutable; made once per workflow definition. */
export interface Graph {
  /** Topological order; steps that could come next are in the order of declaration. */
  readonly order: readonly string[];
  has(id: string): boolean;
  /** Index in {@link order}. */
  positionOf(id: string): number;
  node(id: string): GraphNode;
  /** Steps that need it directly, in order. */
  dependents(id: string): readonly string[];
  /** All direct and indirect dependents, in order. A given step is included only if it depends on another given one. */
  descendants(ids: Iterable<string>): ReadonlySet<string>;
}

/**
 * @throws CairnError INVALID_INPUT with the step and the reason: malformed or duplicate id, unknown need, cycle (written out),
 * too many steps
 */
export function buildGraph(nodes: readonly GraphNode[]): Graph {
  const byId = indexById(nodes);
  const dependents = dependentsOf(nodes, byId);
  const order = topologicalOrder(nodes, dependents);
  return new ValidatedGraph(byId, dependents, order);
}

class ValidatedGraph implements Graph {
  readonly order: readonly string[];
  readonly #byId: ReadonlyMap<string, GraphNode>;
  readonly #dependents = new Map<string, readonly string[]>();
  readonly #positions: ReadonlyMap<string, number>;

  constructor(
    byId: ReadonlyMap<string, GraphNode>,
    dependents: ReadonlyMap<string, readonly string[]>,
    order: readonly string[],
  ) {
    this.order = Object.freeze(order);
    this.#byId = byId;
    this.#positions = new Map(order.map((id, position) => [id, position]));
    for (const [id, unordered] of dependents) this.#dependents.set(id, this.#inOrder(unordered));
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  positionOf(id: string): number {
    return this.#positions.get(id) ?? unknownStep(id);
  }

  node(id: string): GraphNode {
    return this.#byId.get(id) ?? unknownStep(id);
  }

  dependents(id: string): readonly string[] {
    return this.#dependents.get(id) ?? unknownStep(id);
  }

  descendants(ids: Iterable<string>): ReadonlySet<string> {
    const found = new Set<string>();
    const open = [...ids];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      for (const dependent of this.dependents(id)) {
        if (found.has(dependent)) continue;
        found.add(dependent);
        open.push(dependent);
      }
    }
    return new Set(this.#inOrder([...found]));
  }

  #inOrder(ids: readonly string[]): readonly string[] {
    return ids.toSorted((a, b) => this.positionOf(a) - this.positionOf(b));
  }
}

function indexById(nodes: readonly GraphNode[]): Map<string, GraphNode> {
  if (nodes.length > MAX_STEPS) {
    throw invalidInput('steps', `a workflow may have ${MAX_STEPS} steps; this one has ${nodes.length}`, {
      help: 'Use a map step, or child runs.',
    });
  }
  const byId = new Map<string, GraphNode>();
  for (const node of nodes) {
    if (!STEP_ID.test(node.id)) {
      invalidStep(
        node.id,
        'has no valid id: a letter or digit, then up to 99 letters, digits, "_", "." or "-"',
      );
    }
    if (byId.has(node.id)) invalidStep(node.id, 'is declared twice');
    byId.set(node.id, { ...node, needs: Object.freeze([...new Set(node.needs)]) });
  }
  return byId;
}

function dependentsOf(
  nodes: readonly GraphNode[],
  byId: ReadonlyMap<string, GraphNode>,
): ReadonlyMap<string, readonly string[]> {
  const dependents = new Map<string, string[]>(nodes.map((node) => [node.id, []]));
  for (const node of byId.values()) {
    for (const need of node.needs) {
      const list = dependents.get(need) ?? invalidStep(node.id, `needs "${need}", which does not exist`);
      list.push(node.id);
    }
  }
  return dependents;
}

/** Kahn's algorithm; of the steps whose needs are all placed, the first declared one is placed next. */
function topologicalOrder(
  nodes: readonly GraphNode[],
  dependents: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const declared = new Map(nodes.map((node, index) => [node.id, index]));
  const unplacedNeeds = nodes.map((node) => new Set(node.needs).size);
  const placeable = new PositionSet();
  unplacedNeeds.forEach((count, index) => {
    if (count === 0) placeable.add(index);
  });
  const order: string[] = [];
  for (let next = placeable.shift(); next !== undefined; next = placeable.shift()) {
    const id = nodes[next]?.id ?? unknownStep(String(next));
    order.push(id);
    for (const dependent of dependents.get(id) ?? []) {
      const index = declared.get(dependent) ?? unknownStep(dependent);
      const left = (unplacedNeeds[index] ?? 0) - 1;
      unplacedNeeds[index] = left;
      if (left === 0) placeable.add(index);
    }
  }
  if (order.length < nodes.length) refuseCycle(nodes, new Set(order));
  return order;
}

/** Every step that could not be placed needs another such step, so following the needs reaches a step twice. */
function refuseCycle(nodes: readonly GraphNode[], placed: ReadonlySet<string>): never {
  const needOf = new Map<string, string>();
  for (const node of nodes) {
    const unplaced = placed.has(node.id) ? undefined : node.needs.find((need) => !placed.has(need));
    if (unplaced !== undefined) needOf.set(node.id, unplaced);
  }
  const path = new Set<string>();
  let [at] = needOf.keys();
  while (at !== undefined && !path.has(at)) {
    path.add(at);
    at = needOf.get(at);
  }
  const start = at ?? '';
  const cycle = [...path].slice([...path].indexOf(start));
  return invalidStep(start, `is part of a cycle: ${[...cycle, start].join(' needs ')}`);
}

function invalidStep(stepId: string, problem: string): never {
  throw invalidInput('steps', `step "${stepId}" ${problem}`, { stepId });
}

function unknownStep(id: string): never {
  throw new RangeError(`the graph has no step "${id}"`);
}
