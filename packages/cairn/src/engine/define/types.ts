/** Public types of a workflow definition. Types only; steps.ts has what the engine reads. */
import type { ZodType } from 'zod';
import type { RetryPolicy } from '../../core/decisions/retry.ts';
import type { Json } from '../../core/encoding/json.ts';
import type { OnParentEnd, SuccessorMode } from '../../core/run/events.ts';
import type { CatchUp } from '../../core/schedule/schedule.ts';
import type { Tags } from '../../core/search/tags.ts';
import type { Approved, Question } from './approval.ts';
import type { BodyResult, Recorded } from './body-result.ts';
import type { Capability } from './capability.ts';
import type { FlowFactory } from './flow/types.ts';
import type { StepLog } from './log.ts';
import type { PubsubSubscription } from './pubsub.ts';
import type { RetentionOptions } from './retention.ts';
import type { SlackSubscription } from './slack.ts';
import type { Budget, Estimate, Usage } from './spending.ts';
import type { Workflow } from './steps.ts';

declare const outputType: unique symbol;
declare const workflowTypes: unique symbol;

/** A step as other steps refer to it; carries the type of its output. */
export interface Handle<T> {
  readonly id: string;
  /** Only the compiler knows this member. */
  readonly [outputType]?: T;
}

export type Needs = Readonly<Record<string, Handle<unknown>>>;

/** A workflow with the types of its input and result, so that a step that runs it as a child is type-checked. */
export interface TypedWorkflow<Takes, Result> extends Workflow {
  /** Only the compiler knows this member. */
  readonly [workflowTypes]?: { takes: Takes; result: Result };
}

/** The result of a run by the handles its workflow returns. A skipped step is null. */
export type ResultOf<Returned extends Needs> = {
  readonly [K in keyof Returned]: (Returned[K] extends Handle<infer T> ? T : never) | null;
};

/** The outputs a body sees, by the names under which it declared its needs. */
export type Outputs<N extends Needs> = { readonly [K in keyof N]: N[K] extends Handle<infer T> ? T : never };

/** Argument of conditions, questions and keys. These functions must be pure: they may be called again after a crash. */
export type Seen<Input, N extends Needs> = { readonly input: Input } & Outputs<N>;

/** Context of every body besides the outputs it needs. */
export interface StepContext<Input> {
  readonly input: Input;
  readonly runId: string;
  readonly stepId: string;
  /**
   * From 1; incremented for each attempt that failed, or that was recorded when it started. An idempotent step without
   * `uses` leaves no such record, and restarts the same attempt after a crash.
   */
  readonly attempt: number;
  /** From 1; one more for each time a person sent the step back. */
  readonly revision: number;
  /** Feedback given when the step was sent back; undefined at revision 1. */
  readonly feedback: string | undefined;
  /** Aborts on timeout, cancellation, lost lease and shutdown; `signal.reason` has the cause. */
  readonly signal: AbortSignal;
  /** Last `heartbeat` details of the previous attempt, if it was interrupted or failed. */
  readonly progress: Json | undefined;
  /** Reports that the body is alive, with its progress (at most 1 KiB of JSON). */
  heartbeat(details?: Json): void;
  /**
   * A sub-checkpoint: `fn` is called once per name and revision, and later attempts get its recorded value. After a crash it
   * may be called again; then every caller gets the value that was recorded first.
   */
  memo<T>(name: string, fn: (() => T | Promise<T>) & Recorded<T>): Promise<T>;
  /**
   * Makes an external call once: later attempts get the recorded response. The step must list the capability in `uses`.
   * Calls are distinguished by their order; concurrent calls, or calls whose order may change, need a `key`. If an
   * approval is required first, it never returns: the body is abandoned, and restarts after the answer.
   */
  perform<Request, Response>(
    capability: Capability<Request, Response>,
    request: Request,
    options?: { readonly key?: string },
  ): Promise<Response>;
  /** Recorded with the step's checkpoint. */
  usage(used: Usage): void;
  readonly log: StepLog;
  stream(text: string): void; // text that grows while the body works; a new attempt begins with none
}

export type Body<Input, N extends Needs, T> = (context: StepContext<Input> & Outputs<N>) => BodyResult<T>;

/** With `ifSkipped: 'run'` a need may have been skipped, and then is undefined. */
type BodyOfOptional<Input, N extends Needs, T> = (
  context: StepContext<Input> & { readonly [K in keyof N]: Outputs<N>[K] | undefined },
) => BodyResult<T>;

type ItemBody<Input, N extends Needs, Item, T> = (
  context: StepContext<Input> & Outputs<N> & { readonly item: Item; readonly index: number },
) => BodyResult<T>;

/**
 * Meaning of the final failure of a step: the run fails (default), the step counts as skipped, or it has this value and
 * is degraded (see `degrade`).
 */
export type OnFailure<T> = 'fail' | 'skip' | { readonly degradeTo: T };

/** The first entry that matches a failure replaces the step's policy for it. */
export interface ErrorRetry extends Partial<RetryPolicy> {
  /** A class of errors, an error's `name` or `code`, or a predicate. */
  readonly match: (abstract new (...args: never[]) => Error) | string | ((error: unknown) => boolean);
}

export interface RetryOptions extends Partial<RetryPolicy> {
  readonly perError?: readonly ErrorRetry[];
}

/** Result of a policy, with the id of the rules it used. */
export interface PolicyDecision {
  readonly allowed: boolean;
  readonly policySnapshotId: string;
  readonly reason?: string;
}

export interface PolicyQuestion<Input> {
  readonly input: Input;
  readonly runId: string;
  readonly tenantId: string;
  readonly environment: string;
  /** The actor that started it, as in the journal; absent: no known actor. */
  readonly actor?: string | undefined;
  /** Mode of a successor. Before it is created, the policy is evaluated with the id of the source. */
  readonly mode?: SuccessorMode | undefined;
  readonly type: string;
  /** The run begins, moves again after it was interrupted or waited, or is about to run a step that has its own policy. */
  readonly at: 'start' | 'resume' | 'step';
  readonly stepId?: string;
}

/**
 * A refusal cancels the run with `stopKind: policy`. A policy that throws is evaluated again, and nothing runs before it has
 * answered.
 */
export type Policy<Input> = (question: PolicyQuestion<Input>) => PolicyDecision | Promise<PolicyDecision>;

export interface CommonOptions<Input, N extends Needs> {
  /** Steps whose outputs this one reads, by the name its functions use. */
  readonly needs?: N;
  /**
   * Members of the input that this step can read; absent: all. A successor with another input reuses the step if these members
   * and the needed outputs are the same.
   */
  readonly reads?: readonly (keyof Input & string)[];
  /** False: the step is skipped. Must be pure, because it may be called again after a crash. */
  readonly when?: (seen: Seen<Input, N>) => boolean;
  /** Handling of a skipped need: skip (default), or run without it. */
  readonly ifSkipped?: 'skip' | 'run';
}

/** Limits of the attempts of a body, and what it may call. */
export interface AttemptOptions {
  readonly retry?: RetryOptions | undefined;
  /** A body that throws `RetryAt` means "not yet", which is no failed attempt; after `within` the step fails (STEP_TIMEOUT). */
  readonly poll?: { readonly within: string | number };
  /** Longest time one attempt may take: '30s', '5m', or ms. Below the function's own timeout. */
  readonly timeout?: string | number;
  readonly heartbeatTimeout?: string | number; // an attempt without a `heartbeat` for this long has timed out
  /** Capabilities that the body and its compensation may call. */
  // biome-ignore lint/suspicious/noExplicitAny: a capability is known by its own types where it is used
  readonly uses?: readonly Capability<any, any>[];
  /** Maximum cost of one attempt; absent: one call of each of `uses`, as they declare. See docs/budgets.md. */
  readonly estimate?: Estimate;
}

interface BodyOptions<Input, N extends Needs> extends CommonOptions<Input, N>, AttemptOptions {
  /** Default true. False: a step caught mid-flight by a crash is in doubt (see `onDoubt` of the workflow). */
  readonly idempotent?: boolean;
  /** For a step that is not idempotent: allows a new, recorded attempt after a crash, within `retry`. */
  readonly newAttempt?: boolean;
  /** Default true. False: a successor never takes over this step's recorded output. */
  readonly resumable?: boolean;
  /** Evaluated before each attempt. */
  readonly policy?: Policy<Input>;
}

export interface StepOptions<Input, N extends Needs, T> extends BodyOptions<Input, N> {
  /** Checks, and may transform, what the body returns. */
  readonly output?: ZodType<T>;
  readonly onFailure?: OnFailure<T>;
  /**
   * Undoes the step when the run fails or is cancelled after it: in reverse order of completion, and recorded. Must tolerate a
   * second call, because a crash between the action and its record repeats it. Retried by `retry`. Each completed revision of a
   * step that was sent back is undone; needs that were sent back with it may be undefined then.
   */
  readonly compensate?: (
    context: StepContext<Input> & Outputs<N> & { readonly output: T },
  ) => void | Promise<void>;
}

/** Tolerated failures of items: a count or a percentage such as '10%'. `atLeast`: required successes. */
export type Completion = { readonly tolerate: number | `${number}%` } | { readonly atLeast: number };

interface SetOptions<Input, N extends Needs, Item> {
  /** The items, at most 1,000. Must be pure, because it is called again after a crash. */
  readonly over: (seen: Seen<Input, N>) => readonly Item[];
  /** Items running concurrently; default 8. */
  readonly concurrency?: number;
}

export interface MapOptions<Input, N extends Needs, Item, T>
  extends BodyOptions<Input, N>,
    SetOptions<Input, N, Item> {
  /** Schema of one item. */
  readonly output?: ZodType<T>;
  /** Applies to the map step after too many items have failed. */
  readonly onFailure?: OnFailure<readonly T[]>;
  readonly compensate?: (
    context: StepContext<Input> &
      Outputs<N> & { readonly item: Item; readonly index: number; readonly output: T },
  ) => void | Promise<void>;
}

/** Length or end of a sleep: '24h', ms, or a time; or a function of the input and needs that returns it. */
type SleepTime<Input, N extends Needs, T> = T | ((seen: Seen<Input, N>) => T);

export interface SleepOptions<Input, N extends Needs> extends CommonOptions<Input, N> {
  /** From the moment the step begins. Exactly one of `for` and `until` is given. */
  readonly for?: SleepTime<Input, N, string | number>;
  /** Epoch ms or a date; a past time ends the sleep immediately. */
  readonly until?: SleepTime<Input, N, number | Date>;
}

export interface ApprovalOptions<Input, N extends Needs, D = undefined> extends CommonOptions<Input, N> {
  readonly ask: (seen: Seen<Input, N>) => Question;
  /** Schema of the data that a person fills in to approve. Other data is refused, and the question stays open. */
  readonly data?: ZodType<D>;
  /** Time limit of the decision; absent: unlimited. */
  readonly timeout?: string | number;
  /** Handling of an expired approval: the step fails (default), is approved, or the run is halted. */
  readonly onExpiry?: 'fail' | 'approve' | 'halt';
  /** Delay after which the question is shown as overdue, and the text to show. */
  readonly escalate?: { readonly after: string | number; readonly text: string };
  /** Applies to a rejection, and to an expiry that fails. */
  readonly onFailure?: OnFailure<Approved<D>>;
}

export interface EventOptions<Input, N extends Needs, T> extends CommonOptions<Input, N> {
  readonly event: string;
  /** Correlation key of events with one name. */
  readonly key: (seen: Seen<Input, N>) => string;
  /** Usual time until the event. It is shown with the wait, so that people notice a late event, and has no other effect. */
  readonly expected?: string | number;
  readonly timeout?: string | number;
  /**
   * Maximum time between two heartbeats of the sender (`cairn runs heartbeat-wait`); without one the step fails
   * (HEARTBEAT_MISSED). At least 10 seconds; `timeout` still bounds the whole wait.
   */
  readonly heartbeat?: { readonly within: string | number };
  /** Checks, and may transform, what the sender sent; an event that does not pass is refused and the run waits on. */
  readonly output?: ZodType<T>;
  /** Applies to a timeout, a missed heartbeat, and a wait that is failed from outside. */
  readonly onFailure?: OnFailure<T>;
}

interface ChildCommon<Input, N extends Needs, T, Takes> extends CommonOptions<Input, N> {
  /** The workflow to run, or its type. The child gets the newest deployed version. */
  readonly workflow: TypedWorkflow<Takes, T> | Workflow | string;
  /**
   * Handling of a running child when its parent is cancelled or fails: it is cancelled (default), abandoned, or
   * cancelled and awaited, so that the parent is compensated and ends after it.
   */
  readonly onParentEnd?: OnParentEnd;
  /** Time limit of each child. Not allowed with `onParentEnd: 'wait'`: give the child's workflow a `timeout`. */
  readonly timeout?: string | number;
}

export interface ChildOptions<Input, N extends Needs, T, Takes = unknown>
  extends ChildCommon<Input, N, T, Takes> {
  readonly input: (seen: Seen<Input, N>) => NoInfer<Takes>;
  /** Applies to a child that failed, was cancelled or timed out. */
  readonly onFailure?: OnFailure<T>;
}

export interface ChildrenOptions<Input, N extends Needs, Item, T, Takes = unknown>
  extends ChildCommon<Input, N, T, Takes>,
    SetOptions<Input, N, Item> {
  readonly input: (seen: Seen<Input, N> & { readonly item: Item; readonly index: number }) => NoInfer<Takes>;
  readonly onFailure?: OnFailure<readonly T[]>;
}

/** The result of a run whose workflow the compiler does not know: its outputs by name. */
export type ChildResult = Readonly<Record<string, Json>>;

/** Adds steps to the workflow under definition. */
export interface StepFactory<Input> extends FlowFactory<Input> {
  /** One body for each item of a list; the results are in the order of the items. A tolerated failure is null. */
  map<N extends Needs, Item, T>(
    id: string,
    options: MapOptions<Input, N, Item, T> & { readonly completion: Completion },
    body: ItemBody<Input, N, Item, T> & Recorded<T>,
  ): Handle<(T | null)[]>;
  map<N extends Needs, Item, T>(
    id: string,
    options: MapOptions<Input, N, Item, T>,
    body: ItemBody<Input, N, Item, T> & Recorded<T>,
  ): Handle<T[]>;
  /** Asks a person, who can approve, approve with a waiver, send steps back with feedback, reject, or halt the run. */
  approval<N extends Needs, D = undefined>(
    id: string,
    options: ApprovalOptions<Input, N, D>,
  ): Handle<Approved<D>>;
  /** Waits for an event from outside. Its output is what the sender sent. */
  event<N extends Needs, T = Json>(id: string, options: EventOptions<Input, N, T>): Handle<T>;
  /** A pause that survives crashes and deployments and holds no worker. Its output is null. */
  sleep<N extends Needs>(id: string, options: SleepOptions<Input, N>): Handle<null>;
  /** Runs another workflow, or one for each item of a list. Its output is the result of the run (or their list). */
  child<N extends Needs, Item, T = ChildResult, Takes = unknown>(
    id: string,
    options: ChildrenOptions<Input, N, Item, T, Takes> & { readonly completion: Completion },
  ): Handle<(T | null)[]>;
  child<N extends Needs, Item, T = ChildResult, Takes = unknown>(
    id: string,
    options: ChildrenOptions<Input, N, Item, T, Takes>,
  ): Handle<T[]>;
  child<N extends Needs, T = ChildResult, Takes = unknown>(
    id: string,
    options: ChildOptions<Input, N, T, Takes>,
  ): Handle<T>;
  <T>(id: string, body: Body<Input, Record<never, never>, T> & Recorded<T>): Handle<T>;
  <N extends Needs, T>(
    id: string,
    options: StepOptions<Input, N, T> & { readonly ifSkipped: 'run' },
    body: BodyOfOptional<Input, N, T> & Recorded<T>,
  ): Handle<T>;
  <N extends Needs, T>(
    id: string,
    options: StepOptions<Input, N, T>,
    body: Body<Input, N, T> & Recorded<T>,
  ): Handle<T>;
}

/** Declares that a GitHub event starts this workflow. */
export interface GithubSubscription {
  /** `X-GitHub-Event`, e.g. `pull_request`. */
  readonly event: string;
  /** Only these values of the payload's `action`; absent: every one. */
  readonly actions?: readonly string[];
}

/** Declares that this workflow is started on a schedule (docs/schedules.md). */
export interface ScheduleSubscription {
  /** Distinguishes several schedules of a workflow; lower-case words joined by dashes. The same in every deployment. */
  readonly id?: string;
  /** Minute, hour, day of the month, month, day of the week: '30 3 * * *'. */
  readonly cron: string;
  /** Default `Etc/UTC`. */
  readonly timezone?: string;
  /** Default `{}`. An object also gets `slot`, the time the run is for, if the workflow's schema takes it. */
  readonly input?: unknown;
  /** Handling of missed slots: no run, one for the newest (default), or one for each. */
  readonly catchUp?: CatchUp;
}

export interface WorkflowOptions<Input, Takes = unknown, Returned extends Needs = Needs> {
  /** Lower-case words joined by dashes. */
  readonly type: string;
  /** A positive integer, raised whenever the graph or the meaning of a step changes. Runs stay on theirs. */
  readonly planVersion: number;
  /** Checks the input of every start, and drops what the workflow does not use. */
  readonly input: ZodType<Input, Takes>;
  /**
   * Dotted paths (`*` for every member) of members of the input that only step bodies can read. In a workflow with a
   * slash command `responseUrl` is always secret.
   */
  readonly secretInput?: readonly string[];
  /**
   * Tags of a run, computed from its input at the start, such as `{ customer: input.customerId }`. Runs are found by them
   * (`customer:42`). Must be pure; members in `secretInput` are redacted. At most 10.
   */
  readonly tags?: (input: Input) => Tags;
  readonly on?: {
    readonly github?: GithubSubscription | readonly GithubSubscription[];
    readonly pubsub?: PubsubSubscription | readonly PubsubSubscription[];
    readonly slack?: SlackSubscription | readonly SlackSubscription[];
    readonly schedule?: ScheduleSubscription | readonly ScheduleSubscription[];
  };
  /** Longest time the whole run may take, waits included; then it fails with RUN_TIMEOUT. */
  readonly timeout?: string | number;
  /** Limits of one run's spending; at a limit the run asks a person whether to spend more. */
  readonly budget?: Budget;
  /**
   * Handling of a run whose step with `idempotent: false` was interrupted by a crash: it fails (default), or asks for a
   * decision.
   */
  readonly onDoubt?: 'fail' | 'ask';
  /** Evaluated when a run begins and whenever it continues. */
  readonly policy?: Policy<Input>;
  readonly retention?: RetentionOptions;
  /** Declares the graph. Called once, at load, without I/O; the handles it returns name the outputs of the run. */
  steps(step: StepFactory<Input>): Returned;
}
