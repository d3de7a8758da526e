/** Reads the folded state as a drive needs it. */
import type { NodeState } from '../../core/graph/ready.ts';
import type { RunState } from '../../core/run/state.ts';

/**
 * Where a node of the graph stands for a drive that just took over. A step an earlier drive had under way is pending
 * again: whether it may run twice was judged before the drive began.
 */
export function nodeState(state: RunState, id: string): NodeState {
  const step = state.steps.get(id);
  switch (step?.phase) {
    case undefined:
    case 'running':
    case 'again':
      return 'pending';
    case 'retrying':
    case 'waiting':
      return 'open';
    case 'done':
      if (step.outcome === 'failed' || step.outcome === 'skipped') return step.outcome;
      return 'done';
  }
}
