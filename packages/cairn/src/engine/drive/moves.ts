/** Actions of a dispatch that its parts ask for. Each part takes the interface that has the actions it needs. */
import type { EventDraft, StepExecution, Wait } from '../../core/run/events.ts';
import type { RetryingStep } from '../../core/run/state.ts';
import type { Outcome } from '../facts/output.ts';
import type { Entry, Unit } from './step-inputs.ts';

/** Records how an execution ended; `known` where the facts do not carry the output, or are in the journal already. */
export type SettleUnit = (
  unit: Unit,
  execution: StepExecution,
  facts: readonly EventDraft[],
  known?: Outcome,
) => Promise<void>;

/** Actions for any execution. */
export interface StepMoves {
  readonly begin: (unit: Unit) => void;
  readonly notEntered: (
    unit: Unit,
    execution: StepExecution,
    entry: Exclude<Entry, { kind: 'run' }>,
  ) => Promise<void>;
  readonly settle: SettleUnit;
  /** Has the execution with this key begin again at a time, epoch ms. */
  readonly rest: (key: string, at: number) => void;
  /** As the journal says. */
  readonly restAs: (key: string, step: RetryingStep) => void;
  readonly advance: () => void;
}

/** Actions for steps with several executions: items of a map step, operations of a flow. */
export interface GroupMoves extends StepMoves {
  /** Begins an item; false: not in this drive. */
  readonly startItem: (unit: Unit) => boolean;
  readonly hold: (wait: Wait) => void;
  readonly giveUp: (wait: Wait) => Promise<void>;
  /** Lets go of an item that rests between two attempts; false: it does not. */
  readonly wake: (key: string) => boolean;
  /** True if no further item may begin: the questions of earlier items do not fit. */
  readonly isFull: () => boolean;
  readonly isStopped: () => boolean;
}
