/** Reads the folded state as a drive needs it. */
import type { NodeState } from '../../core/graph/ready.ts';
import type { RunState } from '../../core/run/state.ts';

/**
 * State of a graph node for a drive that just took over. A step that an earlier drive was running is pending again:
 * whether it may run twice was decided before the drive started.
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
