/** The operations of a flow that the journal has, and which of them the end of the flow awaits. */
import type { LeftOperation, RecordedOperation } from '../../../core/flow/operation-decision.ts';
import type { StepRef } from '../../../core/run/events.ts';
import { type RunState, type StepState, stepKey } from '../../../core/run/state.ts';
import type { StepDefinition } from '../../define/steps.ts';

export interface KnownOperation {
  readonly name: string;
  readonly state: StepState;
}

/** All of them, in the order of the journal. */
export function operationsOf({ steps }: RunState, { stepId, revision }: StepRef): KnownOperation[] {
  const prefix = `${stepId}[`;
  const found: KnownOperation[] = [];
  for (const [key, state] of steps) {
    if (!key.startsWith(prefix) || state.revision !== revision) continue;
    found.push({ name: key.slice(prefix.length, -1), state });
  }
  return found.sort((a, b) => a.state.seq - b.state.seq);
}

/** In the form in which they are compared with the requests of the code. */
export function leftFrom(known: readonly KnownOperation[]): LeftOperation[] {
  return known.map(({ name, state }) => ({
    name,
    isReused: state.phase === 'done' && (state.outcome === 'reused' || state.outcome === 'skipped'),
  }));
}

export function knownOf({ steps, waits }: RunState, key: string): RecordedOperation {
  const step = steps.get(key);
  switch (step?.phase) {
    case 'running':
    case 'retrying':
      return { at: step.phase };
    case 'waiting': {
      const wait = waits.find((open) => stepKey(open.execution) === key);
      return { at: 'waiting', request: wait?.execution.request };
    }
    default:
      return { at: 'nothing' };
  }
}

/** True if the flow must wait for its end: a body, or a child with `onParentEnd: 'wait'`. */
export function isEndedFor(step: StepDefinition): boolean {
  return 'body' in step || (step.kind === 'child' && step.onParentEnd === 'wait');
}
