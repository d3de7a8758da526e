/** The operations of a flow that the journal has, in its order. */
import type { StepRef } from '../../../core/run/events.ts';
import type { RunState, StepState } from '../../../core/run/state.ts';

export interface KnownOperation {
  readonly name: string;
  readonly state: StepState;
}

export function operationsOf({ steps }: RunState, { stepId, revision }: StepRef): KnownOperation[] {
  const prefix = `${stepId}[`;
  const found: KnownOperation[] = [];
  for (const [key, state] of steps) {
    if (!key.startsWith(prefix) || state.revision !== revision) continue;
    found.push({ name: key.slice(prefix.length, -1), state });
  }
  return found.sort((a, b) => a.state.seq - b.state.seq);
}
