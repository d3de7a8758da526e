/** Steps that can be done next in a graph, by the definition and from scratch. The answers of the tracker are compared with these. */
import type { Graph } from '../../../packages/cairn/src/core/graph/graph.ts';
import type { NodeState } from '../../../packages/cairn/src/core/graph/ready.ts';

type StateOf = (id: string) => NodeState;

/** Pending, with every need done, or skipped where the step runs nevertheless. */
export function readySteps(graph: Graph, stateOf: StateOf): string[] {
  return graph.order.filter((id) => {
    const { needs, ifSkipped } = graph.node(id);
    const isMet = (need: string) =>
      stateOf(need) === 'done' || (stateOf(need) === 'skipped' && ifSkipped === 'run');
    return stateOf(id) === 'pending' && needs.every(isMet);
  });
}

/** Pending, with a skipped need, and not declared to run nevertheless. */
export function skippableSteps(graph: Graph, stateOf: StateOf): string[] {
  return graph.order.filter((id) => {
    const { needs, ifSkipped } = graph.node(id);
    return (
      stateOf(id) === 'pending' && ifSkipped !== 'run' && needs.some((need) => stateOf(need) === 'skipped')
    );
  });
}
