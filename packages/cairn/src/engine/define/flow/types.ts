/** Public types of a flow: a step whose executions are requested by ordinary code. Types only. */

import type { ZodType } from 'zod';
import type { Json } from '../../../core/encoding/json.ts';
import type { OnParentEnd } from '../../../core/run/events.ts';
import type { Approved, Question } from '../approval.ts';
import type { BodyResult, Recorded } from '../body-result.ts';
import type { Capability } from '../capability.ts';
import type { StepLog } from '../log.ts';
import type { Estimate } from '../spending.ts';
import type { Workflow } from '../steps.ts';
import type {
  ApprovalOptions,
  AttemptOptions,
  ChildResult,
  CommonOptions,
  EventOptions,
  Handle,
  Needs,
  OnFailure,
  Outputs,
  RetryOptions,
  Seen,
  StepContext,
  TypedWorkflow,
  WorkflowOptions,
} from '../types.ts';

/** Options of `flow.step`, and of the items of `flow.map`. Each of `uses` must be among those of the flow. */
export interface OperationOptions<T> extends AttemptOptions {
  /**
   * The values that the operation depends on, as JSON. Compared when the flow runs its code again: a completed operation that is
   * requested with another input stops the flow (FLOW_DIVERGED).
   */
  readonly input?: Json;
  /** Checks, and may transform, what the body returns. */
  readonly output?: ZodType<T>;
}

export interface PerformOptions {
  /** Default: the id of the capability. */
  readonly name?: string;
  readonly retry?: RetryOptions;
  readonly timeout?: string | number;
  /** Maximum cost of the call; default: that of the capability. */
  readonly estimate?: Estimate;
}

export interface FlowEventOptions
  extends Pick<EventOptions<unknown, Needs, unknown>, 'expected' | 'timeout' | 'heartbeat'> {
  /** Name of the event; default: the name of the operation. */
  readonly event?: string;
  readonly key: string;
}

export type FlowApprovalOptions = Pick<ApprovalOptions<unknown, Needs>, 'timeout' | 'onExpiry' | 'escalate'>;

export interface FlowChildOptions {
  readonly onParentEnd?: OnParentEnd;
  readonly timeout?: string | number;
}

export interface FlowMapOptions<T> extends Omit<OperationOptions<T>, 'input'> {
  /** Items that run at the same time; default 8. */
  readonly concurrency?: number;
}

/**
 * The durable operations of a flow. Each has a name; a repeated name gets a number (`poll`, `poll.2`). A completed operation
 * answers from the journal, and one that failed throws `OperationFailed`. The code between them runs again after a crash or a
 * wait. Await only operations, and do all other asynchronous work in `flow.step`.
 */
export interface Flow<Input> {
  readonly runId: string;
  readonly stepId: string;
  /** From 1; one more for each time a person sent the flow back. */
  readonly revision: number;
  /** Feedback given when the flow was sent back; undefined at revision 1. */
  readonly feedback: string | undefined;
  /** Runs the body once, with the retries, timeouts and checkpoint of a plain step. */
  step<T>(
    name: string,
    body: ((context: StepContext<Input>) => BodyResult<T>) & Recorded<T>,
    options?: OperationOptions<T>,
  ): Promise<T>;
  /** Makes an external call through the ledger, as `perform` does in a step body. `uses` of the flow lists the capability. */
  perform<Request, Response>(
    capability: Capability<Request, Response>,
    request: Request,
    options?: PerformOptions,
  ): Promise<Response>;
  /** Sleeps for a duration ('24h', or ms) or until a time. */
  sleep(name: string, time: string | number | Date): Promise<void>;
  /** Waits for an external event and returns its data, which the code should validate. */
  event<T = Json>(name: string, options: FlowEventOptions): Promise<T>;
  /** Asks a person. A rejection throws `OperationFailed` with the code APPROVAL_REJECTED. */
  approval(name: string, question: Question, options?: FlowApprovalOptions): Promise<Approved>;
  /** Runs another workflow and returns its result. */
  child<T = ChildResult, Takes = unknown>(
    name: string,
    workflow: TypedWorkflow<Takes, T> | Workflow | string,
    input: NoInfer<Takes>,
    options?: FlowChildOptions,
  ): Promise<T>;
  /** Runs the body for each item, each one an operation of its own (`send[0]`); the results in the order of the items. */
  map<Item, T>(
    name: string,
    items: readonly Item[],
    body: ((context: StepContext<Input> & { readonly item: Item; readonly index: number }) => BodyResult<T>) &
      Recorded<T>,
    options?: FlowMapOptions<T>,
  ): Promise<T[]>;
  /** The time, epoch ms: the same each time the code runs. Default name `now`. */
  now(name?: string): Promise<number>;
  /** A number from 0 to 1: the same each time the code runs. Default name `random`. */
  random(name?: string): Promise<number>;
  /**
   * Lines are stored once: when the code runs again after a wait, lines before its first new operation go only to the log of
   * the process.
   */
  readonly log: StepLog;
}

/** By the name of an approval: schema of what a person fills in to approve. */
export type AnswerSchemas = Readonly<Record<string, ZodType>>;

/** A flow whose approvals give typed data. */
export interface AskingFlow<Input, A extends AnswerSchemas> extends Flow<Input> {
  /**
   * Asks a person, who approves with the data that `answers` of the flow declares. A rejection throws `OperationFailed` with
   * the code APPROVAL_REJECTED.
   */
  approval<Name extends keyof A & string>(
    name: Name,
    question: Question,
    options?: FlowApprovalOptions,
  ): Promise<Approved<A[Name] extends ZodType<infer D> ? D : undefined>>;
  approval(name: string, question: Question, options?: FlowApprovalOptions): Promise<Approved>;
}

/** Undoes an operation: called with its output when the run fails or is cancelled after it. */
type UndoOperation<Input, N extends Needs> = (
  context: StepContext<Input> & Outputs<N> & { readonly output: unknown },
) => void | Promise<void>;

/** Undoes an operation with retries and a time limit of its own. */
export interface UndoOptions<Input, N extends Needs> {
  readonly undo: UndoOperation<Input, N>;
  /** Default: that of a step. The delays are at most five seconds. */
  readonly retry?: RetryOptions;
  /** Longest time that one attempt may take; default: that of a step. */
  readonly timeout?: string | number;
}

interface FlowBodyOptions<Input, N extends Needs, T, A extends AnswerSchemas> {
  /** Attempts of the whole flow; default one. Completed operations return their results again, and a failed one stays failed. */
  readonly retry?: RetryOptions;
  /** Capabilities that operations and compensations may call. */
  // biome-ignore lint/suspicious/noExplicitAny: a capability is known by its own types where it is used
  readonly uses?: readonly Capability<any, any>[];
  /** Checks, and may transform, what the code returns. */
  readonly output?: ZodType<T>;
  /**
   * By the name of an approval: schema of the data with which a person approves it, checked before the answer is accepted. May
   * be corrected while runs are live.
   */
  readonly answers?: A;
  /** By the name of an operation: undoes it when the run ends badly. The newest completion is undone first. */
  readonly compensate?: Readonly<Record<string, UndoOperation<Input, N> | UndoOptions<Input, N>>>;
}

export interface FlowOptions<Input, N extends Needs, T, A extends AnswerSchemas = Record<never, never>>
  extends CommonOptions<Input, N>,
    FlowBodyOptions<Input, N, T, A> {
  /** Longest time that the code may take without an operation under way; default one minute. */
  readonly timeout?: string | number;
  readonly resumable?: boolean;
  readonly onFailure?: OnFailure<T>;
}

type FlowCode<Input, N extends Needs, T, A extends AnswerSchemas = Record<never, never>> = (
  flow: AskingFlow<Input, A>,
  seen: Seen<Input, N>,
) => Promise<T>;

/** State and number of turns that a loop has done; 0 before the first. */
interface Turned<S> {
  readonly state: S;
  readonly turn: number;
}

/** Values of a loop before a turn. These functions must be pure: they may be called again after a crash. */
type SeenByLoop<Input, N extends Needs, S> = Seen<Input, N> & Turned<S>;

/** A type without its literals, for values that a schema checks: before it knows the schema, the compiler infers `string`. */
type Wide<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T extends object
        ? { [K in keyof T]: Wide<T[K]> }
        : T;

interface TurnOptions<Input, N extends Needs, S, Returned = NoInfer<S>>
  extends CommonOptions<Input, N>,
    AttemptOptions {
  /** Called before each turn. False ends the loop, with the state as its output. */
  readonly while: (seen: SeenByLoop<Input, N, NoInfer<S>>) => boolean;
  /** One turn, with the retries and timeouts of a plain step: returns the next state. `turn` counts from 1. */
  readonly body: (context: StepContext<Input> & Outputs<N> & Turned<NoInfer<S>>) => BodyResult<Returned>;
  /**
   * Maximum number of turns, up to 1,000,000. A loop that needs more fails with LOOP_LIMIT_REACHED. With more than 5,000 it
   * continues in child runs.
   */
  readonly max: number;
  /** Pause between two turns, during which the run holds no worker: '12h', ms, or a function that returns one. */
  readonly pause?: string | number | ((seen: SeenByLoop<Input, N, NoInfer<S>>) => string | number);
  readonly resumable?: boolean;
  readonly onFailure?: OnFailure<NoInfer<S>>;
  /** Undoes a turn when the run ends badly, the newest first, with `retry` and `timeout` of the turns; `output` is the state that the turn returned. */
  readonly compensate?: (
    context: StepContext<Input> & Outputs<N> & { readonly output: NoInfer<S> },
  ) => void | Promise<void>;
}

export interface LoopOptions<Input, N extends Needs, S> extends TurnOptions<Input, N, S> {
  /** Checks the state, the first one included, and may transform it. */
  readonly output?: ZodType<S>;
  /** The state before the first turn: at most 256 KiB of JSON, as each later one. */
  readonly state: (seen: Seen<Input, N>) => S;
}

/** Steps whose executions are requested while they run (docs/flows.md). */
export interface FlowFactory<Input> {
  flow<N extends Needs, T, A extends AnswerSchemas = Record<never, never>>(
    id: string,
    options: FlowOptions<Input, N, T, A>,
    code: FlowCode<Input, N, T, A> & Recorded<T>,
  ): Handle<T>;
  /** Calls one body repeatedly. Each turn gets the state that the previous one returned; the output is the last state. */
  loop<N extends Needs, S>(
    id: string,
    options: TurnOptions<Input, N, S, Wide<NoInfer<S>>> & {
      readonly output: ZodType<S>;
      readonly state: (seen: Seen<Input, N>) => Wide<NoInfer<S>>;
    },
  ): Handle<S>;
  loop<N extends Needs, S>(
    id: string,
    options: TurnOptions<Input, N, S> & {
      readonly output?: undefined;
      readonly state: ((seen: Seen<Input, N>) => S) & Recorded<S>;
    },
  ): Handle<S>;
}

/** A workflow of one flow. Its result is `{ output }`, with the return value of the code. */
export interface FlowWorkflowOptions<Input, Takes, T, A extends AnswerSchemas = Record<never, never>>
  extends Omit<WorkflowOptions<Input, Takes>, 'steps'>,
    FlowBodyOptions<Input, Record<never, never>, T, A> {
  readonly run: ((flow: AskingFlow<Input, A>, input: Input) => Promise<T>) & Recorded<T>;
}
