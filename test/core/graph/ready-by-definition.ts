/** Computes ready and skippable steps from the definition, without increments, as the reference for the tracker. */
import type { Graph } from '../../../packages/cairn/src/core/graph/graph.ts';
import type { NodeState } from '../../../packages/cairn/src/core/graph/ready.ts';

type StateOf = (id: string) => NodeState;

/** Pending steps with every need done, or skipped if the step has `ifSkipped: 'run'`. */
export function readySteps(graph: Graph, stateOf: StateOf): string[] {
  return graph.order.filter((id) => {
    const { needs, ifSkipped } = graph.node(id);
    const isMet = (need: string) =>
      stateOf(need) === 'done' || (stateOf(need) === 'skipped' && ifSkipped === 'run');
    return stateOf(id) === 'pending' && needs.every(isMet);
  });
}

/** Pending steps with a skipped need and without `ifSkipped: 'run'`. */
export function skippableSteps(graph: Graph, stateOf: StateOf): string[] {
  return graph.order.filter((id) => {
    const { needs, ifSkipped } = graph.node(id);
    return (
      stateOf(id) === 'pending' && ifSkipped !== 'run' && needs.some((need) => stateOf(need) === 'skipped')
    );
  });
}
