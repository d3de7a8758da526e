/** A workflow as the engine reads it, without the types of inputs and outputs, which only the compiler needs. Types only. */
import type { ZodType } from 'zod';
import type { BudgetLimits, Spend } from '../../core/budget/budget.ts';
import type { CompletionRule } from '../../core/decisions/item-progress.ts';
import type { PollPolicy, RetryPolicy } from '../../core/decisions/retry.ts';
import type { Graph } from '../../core/graph/graph.ts';
import type { Retention } from '../../core/retention/policy.ts';
import type { OnParentEnd } from '../../core/run/events.ts';
import type { DeclaredSchedule } from '../../core/schedule/schedule.ts';
import type { Tags } from '../../core/search/tags.ts';
import type { Capability } from './capability.ts';
import type { PubsubSubscription } from './pubsub.ts';
import type { SlackSubscription } from './slack.ts';
import type { ErrorRetry, GithubSubscription, PolicyDecision, PolicyQuestion } from './types.ts';

/** The only argument of an author's function: the input, the needed outputs, and for a body its operations. */
export type Context = Readonly<Record<string, unknown>>;

/** Meaning of the final failure of a step; `text` is canonical JSON. */
export type FailurePolicy =
  | { readonly kind: 'fail' }
  | { readonly kind: 'skip' }
  | { readonly kind: 'degrade'; readonly text: string };

export type AnyPolicy = (question: PolicyQuestion<unknown>) => PolicyDecision | Promise<PolicyDecision>;

interface AnyStep {
  readonly id: string;
  /** Name in the body → id of the step. */
  readonly needs: Readonly<Record<string, string>>;
  /** Members of the input it sees; absent: all. */
  readonly reads?: readonly string[] | undefined;
  readonly when?: (context: Context) => boolean;
  readonly ifSkipped: 'skip' | 'run';
  readonly idempotent: boolean;
  readonly resumable: boolean;
  readonly onFailure: FailurePolicy;
}

interface AnyBody extends AnyStep {
  /** Allows a new attempt after a crash, although the step is not idempotent. */
  readonly newAttempt?: true;
  readonly retry: RetryPolicy;
  readonly retryPerError: readonly { readonly match: ErrorRetry['match']; readonly policy: RetryPolicy }[];
  readonly poll?: PollPolicy;
  readonly timeoutMs: number;
  readonly heartbeatTimeoutMs?: number;
  readonly output?: ZodType<unknown>;
  readonly policy?: AnyPolicy;
  readonly uses: readonly Capability[];
  /** Maximum cost of one attempt. */
  readonly estimate?: Spend;
  readonly body: (context: Context) => unknown;
  readonly compensate?: (context: Context) => unknown;
}

/** The list of a set, how many of its items run at once, and when it is complete. */
export interface SetRules {
  readonly over: (context: Context) => readonly unknown[];
  readonly concurrency: number;
  readonly completion: CompletionRule;
}

export interface PlainStep extends AnyBody {
  readonly kind: 'step';
}

export interface MapStep extends AnyBody {
  readonly kind: 'map';
  readonly set: SetRules;
}

export interface SleepStep extends AnyStep {
  readonly kind: 'sleep';
  /** End of the sleep that begins at `now`, epoch ms. Throws for an invalid duration or time. */
  readonly dueAt: (context: Context, now: number) => number;
}

export interface ApprovalStep extends AnyStep {
  readonly kind: 'approval';
  readonly ask: (context: Context) => unknown;
  /** Schema of what a person fills in to approve. */
  readonly data?: ZodType<unknown>;
  readonly timeoutMs?: number;
  readonly onExpiry: 'fail' | 'approve' | 'halt';
  readonly escalate?: { readonly afterMs: number; readonly text: string };
}

export interface EventStep extends AnyStep {
  readonly kind: 'event';
  readonly event: string;
  readonly key: (context: Context) => string;
  readonly expectedMs?: number;
  readonly timeoutMs?: number;
  readonly heartbeatMs?: number;
  readonly output?: ZodType<unknown>;
}

export interface ChildStep extends AnyStep {
  readonly kind: 'child';
  /** Type of the workflow to run. */
  readonly workflow: string;
  readonly input: (context: Context) => unknown;
  readonly onParentEnd: OnParentEnd;
  readonly timeoutMs?: number;
  /** Absent: one child. */
  readonly set?: SetRules;
}

/** Code that requests operations, each an execution `id[name]`. Its members have other names than those of a body. */
export interface FlowStep extends AnyStep {
  readonly kind: 'flow';
  readonly type: string;
  /** @param start of a loop only */
  readonly code: (flow: never, seen: Context, start?: LoopStart) => unknown;
  readonly uses: readonly Capability[];
  readonly retry: RetryPolicy;
  readonly retryPerError: AnyBody['retryPerError'];
  /** Longest time that the code may take without an operation under way, ms. */
  readonly idleMs: number;
  /** Schema of what the code returns. */
  readonly returns?: ZodType<unknown> | undefined;
  /** A loop: its code is the engine's and continues after the last turn that completed, so it cannot diverge. */
  readonly loop?: Loop;
  /** By the name of an approval: schema of what a person fills in to approve. */
  readonly answers: Readonly<Record<string, ZodType<unknown>>>;
  /** By the name of an operation. */
  readonly undo: Readonly<Record<string, OperationCompensation>>;
  /** Hook of the test kit between the engine and the code. */
  readonly observer?: FlowObserver | undefined;
}

/** Compensation of an operation of a flow, with its own retries and time limit. */
export interface OperationCompensation extends Pick<AnyBody, 'retry' | 'retryPerError' | 'timeoutMs'> {
  readonly compensate: (context: Context) => unknown;
}

interface Loop {
  readonly state?: ZodType<unknown> | undefined;
  /** True if the loop may have more turns than one run holds. */
  readonly isLong?: true | undefined;
  /** The code of its parts (core/flow/parts.ts); absent: the step is itself the loop of a part. */
  readonly part?: FlowStep['code'];
}

/** Point at which the code of a loop continues. */
export interface LoopStart {
  /** Undefined: no turn has completed. */
  readonly last: LastTurn | undefined;
  /** True if a part has begun. */
  readonly hasParts: boolean;
  /** Maximum number of turns in one run; a part does the rest. */
  readonly turnsOfARun: number;
}

/** The last turn of a loop that completed, in its run or in a part, and the state that it returned. */
export interface LastTurn {
  /** In a part, the number among the turns of this run. */
  readonly turn: number;
  readonly state: unknown;
  /** True if a part has found the loop over. */
  readonly isOver?: boolean;
}

export interface FlowObserver {
  /** Returns the body to call instead. */
  body(body: PlainStep['body'], key: string): PlainStep['body'];
  /** Reports that the code is busy until the promise settles. */
  busy(until: Promise<void>): void;
}

export type BodyStep = PlainStep | MapStep;
/** Steps that wait for something outside. */
export type WaitStep = SleepStep | ApprovalStep | EventStep | ChildStep;
export type StepDefinition = BodyStep | WaitStep | FlowStep;

export interface Workflow {
  readonly type: string;
  readonly planVersion: number;
  readonly input: ZodType<unknown>;
  /** Dotted paths of members of the input that only step bodies can read. */
  readonly secretInput: readonly string[];
  readonly tags?: (input: unknown) => Tags;
  readonly github: readonly GithubSubscription[];
  readonly pubsub: readonly PubsubSubscription[];
  readonly slack: readonly SlackSubscription[];
  readonly schedules: readonly DeclaredSchedule[];
  readonly timeoutMs?: number;
  /** Limits of one run's spending. */
  readonly budget?: BudgetLimits;
  readonly onDoubt: 'fail' | 'ask';
  readonly policy?: AnyPolicy | undefined;
  readonly retention: Retention;
  readonly graph: Graph;
  readonly steps: ReadonlyMap<string, StepDefinition>;
  /** Name in the result of the run → id of the step. */
  readonly result: Readonly<Record<string, string>>;
}
