/**
 * Decides from facts whether and how a run ends. Every process that may end a run carries out this decision: a dispatch
 * (dispatch.ts), a claim (engine/drive/claimed-run.ts), the recovery of a run whose dispatch died (recovery.ts), and a cancel of
 * a run that no worker holds (operations/cancel-run.ts). The first row that applies decides:
 *
 * | condition                                    | then the run                                                        |
 * |----------------------------------------------|---------------------------------------------------------------------|
 * | another's dispatch has it                    | continues: only that dispatch ends it (J3)                          |
 * | somebody asked for its end                   | is cancelled (`stopKind: halt`: halted), after what is to be undone |
 * | its plan is not deployed                     | continues once it is: nothing can be undone or run without. So does |
 * |                                              | one that is to be cancelled and undone, unless `withoutUndo`        |
 * | a step of it killed its workers alone        | fails, after what is to be undone                                   |
 * | a step failed for good, or its time is over  | fails, after what is to be undone                                   |
 * | its dispatch died, and a question is open    | continues once that is answered                                     |
 * | a step may have acted, and must not again    | continues once a person decides, or fails, after what is undone     |
 * | its dispatch died before a checkpoint        | fails                                                               |
 * | all its steps have ended                     | completes                                                           |
 *
 * So an acknowledged cancel takes precedence over everything else, and a failure over completion. An open wait, and a step that
 * was sent back with feedback, are steps that have not ended. A run that is cancelled or fails while it has a child with
 * `onParentEnd: 'wait'` is compensated and ended after that child ends. A run that kills its workers ends without waiting,
 * because it is not dispatched again.
 *
 * Must not: know where the facts come from (ending-facts.ts, a dispatch), or write an event (engine/recording/terminal.ts).
 */
import type { RecordedError } from '../run/events.ts';
import { NO_STEP, type RunState, UNDOING } from '../run/state.ts';

export interface EndingFacts {
  /** The run is under a lease of another process. */
  readonly leasedByAnother: boolean;
  /** Cancellation requested by a user, a policy or a parent. */
  readonly cancellation: RunState['cancellation'];
  /** True if completed steps may have to be undone before the run fails or is cancelled. */
  readonly undoDue: boolean;
  /** True if compensation has begun. */
  readonly compensating: boolean;
  readonly isDeployed: boolean;
  /**
   * Number of dispatches that died alone, each while the step `at` was running; without `isSameStep`, only the last one.
   * `shutDown`: they got SIGTERM after the step had run for long.
   */
  readonly lostWorkers:
    | {
        readonly times: number;
        readonly at: string;
        readonly isSameStep: boolean;
        readonly shutDown?: boolean | undefined;
      }
    | undefined;
  /** The first known reason of its failure; the time limit of the run is one. */
  readonly failure: RecordedError | undefined;
  /** True if the dispatch died while a question to a person was open. */
  readonly questionOpen: boolean;
  /** Steps that began, did not end, and must not run twice. */
  readonly inDoubt: readonly string[];
  readonly onDoubt: 'fail' | 'ask';
  /** True if the dispatch died before the first checkpoint. */
  readonly neverSaved: boolean;
  /** True if a child with `onParentEnd: 'wait'` has not ended. */
  readonly childrenOpen: boolean;
  /** True if all steps of the graph have ended. Only a dispatch knows this; it also has their outputs. */
  readonly allEnded: boolean;
}

export type EndingDecision =
  | Continues
  /** The run ends this way after its compensations. */
  | { readonly kind: 'undo_first'; readonly end: CancelledEnding | FailedEnding }
  | CancelledEnding
  | FailedEnding
  | { readonly kind: 'completed' };

/** `because`: the reason why the run does not move; absent if none of these facts is the reason. */
export type Continues =
  | { readonly kind: 'continue'; readonly because?: 'leased_by_another' | 'without_plan' | 'question_open' }
  | { readonly kind: 'continue'; readonly because: 'in_doubt'; readonly steps: readonly string[] }
  /** The run ends this way after its children. */
  | {
      readonly kind: 'continue';
      readonly because: 'children_open';
      readonly end: CancelledEnding | FailedEnding;
    };

export interface CancelledEnding {
  readonly kind: 'cancelled';
  readonly cancellation: NonNullable<RunState['cancellation']>;
}

/** `because`: the decisive fact. The journal or the dispatch already knows a `failure`; the others are detected here. */
export interface FailedEnding {
  readonly kind: 'failed';
  readonly because: 'lost_workers' | 'failure' | 'in_doubt' | 'never_saved';
  readonly error: RecordedError;
}

/** Facts about a run with a live dispatch that has its plan and lease; the dispatch adds the rest. */
export const ATTENDED: EndingFacts = {
  leasedByAnother: false,
  cancellation: undefined,
  undoDue: false,
  compensating: false,
  isDeployed: true,
  lostWorkers: undefined,
  failure: undefined,
  questionOpen: false,
  inDoubt: [],
  onDoubt: 'fail',
  neverSaved: false,
  childrenOpen: false,
  allEnded: false,
};

/** The rows of the table above; the first decision counts. */
const ORDER: readonly ((facts: EndingFacts) => EndingDecision | undefined)[] = [
  ({ leasedByAnother }) => (leasedByAnother ? { kind: 'continue', because: 'leased_by_another' } : undefined),
  cancelled,
  ({ isDeployed }) => (isDeployed ? undefined : { kind: 'continue', because: 'without_plan' }),
  poisoned,
  endingOfFailure,
  ({ questionOpen }) => (questionOpen ? { kind: 'continue', because: 'question_open' } : undefined),
  endingInDoubt,
  endingOfOrphan,
  ({ allEnded }) => (allEnded ? { kind: 'completed' } : undefined),
];

export function endingDecision(facts: EndingFacts): EndingDecision {
  for (const answer of ORDER) {
    const ending = answer(facts);
    if (ending) return afterChildren(ending, facts);
  }
  return { kind: 'continue' };
}

function afterChildren(ending: EndingDecision, facts: EndingFacts): EndingDecision {
  if (!isForChildren(facts) || !facts.isDeployed) return ending;
  const end = ending.kind === 'undo_first' ? ending.end : ending;
  return end.kind === 'cancelled' || end.kind === 'failed'
    ? { kind: 'continue', because: 'children_open', end }
    : ending;
}

function isForChildren({ childrenOpen, compensating, lostWorkers }: EndingFacts): boolean {
  return childrenOpen && !compensating && !lostWorkers;
}

/**
 * A run that kills its workers is cancelled without compensation, because compensating would dispatch it again. A run whose plan is
 * not deployed cannot be compensated, so it stays blocked, and the response to the cancel reports that.
 */
function cancelled(facts: EndingFacts): EndingDecision | undefined {
  const { cancellation, undoDue, lostWorkers, isDeployed } = facts;
  if (!cancellation) return undefined;
  const undoes = undoDue && !lostWorkers && !cancellation.withoutUndo;
  const needsDispatch = undoes || (isForChildren(facts) && !cancellation.withoutUndo);
  if (needsDispatch && !isDeployed) return undefined;
  return undoneFirst({ kind: 'cancelled', cancellation }, undoes);
}

/** Compensations that killed the worker are not repeated. */
function poisoned({ lostWorkers, undoDue, compensating }: EndingFacts): EndingDecision | undefined {
  if (!lostWorkers) return undefined;
  const { times, at, isSameStep, shutDown } = lostWorkers;
  const isStep = at !== NO_STEP && at !== UNDOING;
  const where = isStep
    ? `step '${at}' was under way`
    : at === UNDOING
      ? 'a compensation was running'
      : 'no step was running';
  const message = `the run was dispatched alone and its worker ${shutDown ? 'was shut down' : 'died'} ${times} times${isSameStep ? '' : ' with few steps in between, most recently'} while ${where}`;
  const error = { code: 'RUN_RESUME_FAILED', message, retryable: false, stepId: isStep ? at : undefined };
  return undoneFirst({ kind: 'failed', because: 'lost_workers', error }, undoDue && !compensating);
}

function endingOfFailure({ failure: error, undoDue }: EndingFacts): EndingDecision | undefined {
  return error && undoneFirst({ kind: 'failed', because: 'failure', error }, undoDue);
}

function endingInDoubt({ inDoubt, onDoubt, undoDue }: EndingFacts): EndingDecision | undefined {
  const [stepId] = inDoubt;
  if (stepId === undefined) return undefined;
  if (onDoubt === 'ask') return { kind: 'continue', because: 'in_doubt', steps: inDoubt };
  const message = `step '${stepId}' was running when its worker died and is not idempotent: it may have acted`;
  const error = { code: 'RUN_ORPHANED', message, stepId, retryable: false };
  return undoneFirst({ kind: 'failed', because: 'in_doubt', error }, undoDue);
}

function endingOfOrphan({ neverSaved }: EndingFacts): EndingDecision | undefined {
  if (!neverSaved) return undefined;
  const message = 'the run lost its worker before its first checkpoint';
  return {
    kind: 'failed',
    because: 'never_saved',
    error: { code: 'RUN_ORPHANED', message, retryable: true },
  };
}

function undoneFirst(ending: CancelledEnding | FailedEnding, undoDue: boolean): EndingDecision {
  return undoDue ? { kind: 'undo_first', end: ending } : ending;
}
