/**
 * Messages of a dispatch, the commands that follow from them, and the changes of executions that it records. Data only: `session.ts` takes the messages, `next/` decides what follows from each, `carry-out.ts` carries commands out.
 */
import type { Spend } from '../../core/budget/budget.ts';
import type { EventDraft, RecordedError, StepExecution, Wait } from '../../core/run/events.ts';
import type { OpenEffect, RunState } from '../../core/run/state.ts';
import type { FlowStep } from '../define/steps.ts';
import type { EffectAsk } from '../effects/effect-call.ts';
import type { LeaveRequest } from '../mailbox/leave.ts';
import type { Outcome, Output, Used } from '../recording/output.ts';
import type { AttemptResult } from './bodies/call-body.ts';
import type { ItemSet } from './item-set.ts';
import type { BodyUnit, Unit } from './step-inputs.ts';

/** An execution under a key of the journal. */
export interface Executed {
  readonly unit: Unit;
  readonly execution: StepExecution;
}

export interface EndedBody extends Executed {
  readonly unit: BodyUnit;
  readonly result: Exclude<AttemptResult, { kind: 'unfinished' }>;
  readonly used: Used;
  /** Settled effects, appended with the end. */
  readonly settled: readonly EventDraft[];
}

/** `spent`: the share of the attempt in the run's budget; undefined: the run has none. */
export type SpentBody = EndedBody & { readonly spent: Spend | undefined };

export type CodeEnd =
  | { readonly kind: 'returned'; readonly value: unknown }
  /** `code`: the code of the error, where the cause has none. */
  | { readonly kind: 'threw'; readonly cause: unknown; readonly code?: string }
  | { readonly kind: 'diverged'; readonly message: string };

export interface EndedFlow {
  readonly step: FlowStep;
  readonly execution: StepExecution;
  readonly end: CodeEnd;
}

/** The last record of an execution. */
export interface ExecutionEnd extends Executed {
  readonly outcome: Outcome;
  /** A function if the output may be too large for a checkpoint: it is stored first, and the function then makes the events. */
  readonly events: readonly EventDraft[] | ((kept: Output) => readonly EventDraft[]);
}

/** Effect on an execution, once its change is in the journal. */
export type Consequence =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'ended'; readonly outcome: Outcome }
  /** The execution begins again at a time, epoch ms. */
  | { readonly kind: 'rests'; readonly at: number }
  /** The execution begins again when its question, of this size, fits among the open waits. */
  | { readonly kind: 'rests_without_room'; readonly bytes: number }
  | { readonly kind: 'waits'; readonly wait: Wait }
  /** `outcome` absent: others ended the wait, or the run is ending; the journal has the outcome of the step. */
  | { readonly kind: 'wait_ended'; readonly wait: Wait; readonly outcome?: Outcome | undefined }
  /** Waits of a flow whose code has ended were closed; none: the flow can end. */
  | { readonly kind: 'waits_closed'; readonly waits: readonly Wait[]; readonly ending: ExecutionEnd };

export interface ExecutionChange extends Executed {
  /**
   * Called again on each newer state. If the run belongs to another dispatch or the step was sent back, `otherwise` follows
   * instead.
   */
  readonly decide: (state: RunState) => {
    readonly events: readonly EventDraft[];
    readonly consequence: Consequence;
  };
  readonly otherwise: Consequence;
  /** The wait that the change may open. Its room in the snapshot is reserved. */
  readonly opening?: Wait;
  /** The outcome already counts; its dependents begin when it is in the journal. */
  readonly isKnown?: true;
  /** Recorded instead if another process has written the row of the ledger meanwhile. */
  readonly ifEffectMoved?: () => ExecutionChange;
  readonly after?: readonly Command[];
}

/** Work that takes time. Each command ends with a message. */
export type Command =
  | { readonly kind: 'record'; readonly change: ExecutionChange }
  /** Stores a large output among the run's payloads. */
  | { readonly kind: 'keep'; readonly ending: ExecutionEnd }
  | { readonly kind: 'find_question'; readonly ended: SpentBody; readonly doubt: EffectDoubt }
  /** Announces a wait: registers it at its mailbox, or starts its child. */
  | { readonly kind: 'announce'; readonly wait: Wait }
  | { readonly kind: 'leave_mailbox'; readonly place: LeaveRequest }
  | { readonly kind: 'cancel_children'; readonly runIds: readonly string[]; readonly message?: Message }
  /** Reads the outcome of a step that another process ended. */
  | { readonly kind: 'read_outcome'; readonly executed: Executed }
  /** Reads the results of items that ended in an earlier dispatch into their set. */
  | { readonly kind: 'read_results'; readonly set: ItemSet; readonly done: readonly DoneItem[] };

export interface EffectDoubt {
  readonly open: OpenEffect | undefined;
  readonly error: RecordedError;
}

/** An item that ended in an earlier dispatch; its checkpoint has the result. */
export interface DoneItem {
  readonly index: number;
  readonly seq: number;
}

export type CommandOf<K extends Command['kind']> = Extract<Command, { kind: K }>;

/** End of the announcement of a wait. */
export type Announcement =
  /** The wait is announced and continues. */
  | { readonly kind: 'announced' }
  /**
   * An answer was already there, or the wait is impossible. `place`: the mailbox to leave once the journal has these events.
   */
  | { readonly kind: 'ended'; readonly events: readonly EventDraft[]; readonly place?: LeaveRequest }
  /** The announcement may be lost: a later dispatch repeats it. */
  | { readonly kind: 'lost'; readonly error: Error }
  /** The workflow of the child is not deployed, or was changed within its version: a later dispatch tries again. */
  | { readonly kind: 'not_deployed'; readonly error: RecordedError };

/** Message about an execution. */
export type StepMessage =
  /** More may begin. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'body_ended'; readonly ended: EndedBody }
  | { readonly kind: 'recorded'; readonly change: ExecutionChange; readonly consequence: Consequence }
  | { readonly kind: 'effect_moved'; readonly change: ExecutionChange }
  | { readonly kind: 'output_stored'; readonly ending: ExecutionEnd; readonly output: Output }
  | {
      readonly kind: 'question_found';
      readonly ended: SpentBody;
      readonly ask: EffectAsk | undefined;
      readonly error: RecordedError;
    }
  /** The due time of a resting execution, or of a wait, has come. */
  | { readonly kind: 'due'; readonly key: string }
  | { readonly kind: 'announced'; readonly wait: Wait; readonly announcement: Announcement }
  | { readonly kind: 'outcome_read'; readonly executed: Executed; readonly outcome: Outcome | undefined }
  | { readonly kind: 'results_read'; readonly set: ItemSet }
  | ({ readonly kind: 'flow_ended' } & EndedFlow)
  | { readonly kind: 'close_waits'; readonly ending: ExecutionEnd };

/** Message about the dispatch as a whole. */
export type DispatchMessage =
  /** Events of others may have been folded. */
  | { readonly kind: 'refreshed' }
  /** Operators paused the run. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'halt'; readonly why: 'budget' | 'shutdown' }
  | { readonly kind: 'timed_out'; readonly deadlineAt: number }
  | { readonly kind: 'grace_over' };

export type Message = StepMessage | DispatchMessage;

export const MOVED: Message = { kind: 'moved' };
