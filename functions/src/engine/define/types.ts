/** What a workflow is made of, as its author writes it and as the engine reads it. Types only. */
import type { ZodType } from 'zod';
import type { RetryPolicy } from '../../core/decisions/retry.ts';
import type { Graph } from '../../core/graph/graph.ts';

declare const outputType: unique symbol;

/** A step as other steps refer to it; carries the type of its output. */
export interface Handle<T> {
  readonly id: string;
  /** Only the compiler knows this member. */
  readonly [outputType]?: T;
}

export type Needs = Readonly<Record<string, Handle<unknown>>>;

/** The outputs a body sees, by the names under which it declared its needs. */
export type Outputs<N extends Needs> = { readonly [K in keyof N]: N[K] extends Handle<infer T> ? T : never };

/** What every body gets beside the outputs it needs. */
export interface StepContext<Input> {
  readonly input: Input;
  readonly runId: string;
  readonly stepId: string;
  /** From 1; one more for each recorded failure or start. An idempotent step a crash interrupted begins the same attempt anew. */
  readonly attempt: number;
  /** From 1; one more for each time a person sent the step back. */
  readonly revision: number;
  /** Aborts on timeout, cancellation, lost lease and shutdown; `signal.reason` says which. */
  readonly signal: AbortSignal;
  /** Writes a structured log line with run, step and attempt. */
  log(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export type Body<Input, N extends Needs, T> = (context: StepContext<Input> & Outputs<N>) => T | Promise<T>;

/** With `ifSkipped: 'run'` a need may have been skipped, and then is undefined. */
export type BodyOfOptional<Input, N extends Needs, T> = (
  context: StepContext<Input> & { readonly [K in keyof N]: Outputs<N>[K] | undefined },
) => T | Promise<T>;

export interface StepOptions<Input, N extends Needs, T> {
  /** Steps whose outputs this one reads, by the name its body uses. */
  readonly needs?: N;
  /** False: the step is skipped. Must be pure: it may be asked again after a crash. */
  readonly when?: (context: { readonly input: Input } & Outputs<N>) => boolean;
  /** What to do when a need was skipped: be skipped too (default), or run without it. */
  readonly ifSkipped?: 'skip' | 'run';
  readonly retry?: Partial<RetryPolicy>;
  /** Longest time one attempt may take: '30s', '5m', or ms. Below the function's own timeout. */
  readonly timeout?: string | number;
  /** Checks, and may transform, what the body returns. */
  readonly output?: ZodType<T>;
  /** Default true. False: a step caught mid-flight by a crash is in doubt, and the run fails (DESIGN 2.9). */
  readonly idempotent?: boolean;
  /** Default true. False: a successor never takes over this step's recorded output. */
  readonly resumable?: boolean;
}

/** How long a sleep lasts: '24h', ms, or a time; or a function of the input and the outputs it needs that says so. */
export type SleepTime<Input, N extends Needs, T> =
  | T
  | ((context: { readonly input: Input } & Outputs<N>) => T);

export interface SleepOptions<Input, N extends Needs> {
  readonly needs?: N;
  readonly when?: (context: { readonly input: Input } & Outputs<N>) => boolean;
  readonly ifSkipped?: 'skip' | 'run';
  /** From the moment the step begins. Exactly one of `for` and `until` is given. */
  readonly for?: SleepTime<Input, N, string | number>;
  /** Epoch ms or a date; a time in the past lets the run go on at once. */
  readonly until?: SleepTime<Input, N, number | Date>;
}

/** Adds steps to the workflow under definition. */
export interface StepFactory<Input> {
  /** A pause that survives everything and costs nothing while it lasts. Its output is null. */
  sleep<N extends Needs>(id: string, options: SleepOptions<Input, N>): Handle<null>;
  <T>(id: string, body: Body<Input, Record<never, never>, T>): Handle<T>;
  <N extends Needs, T>(
    id: string,
    options: StepOptions<Input, N, T> & { readonly ifSkipped: 'run' },
    body: BodyOfOptional<Input, N, T>,
  ): Handle<T>;
  <N extends Needs, T>(id: string, options: StepOptions<Input, N, T>, body: Body<Input, N, T>): Handle<T>;
}

/** Declares that a GitHub event starts this workflow. */
export interface GithubSubscription {
  /** `X-GitHub-Event`, e.g. `pull_request`. */
  readonly event: string;
  /** Only these values of the payload's `action`; absent: every one. */
  readonly actions?: readonly string[];
}

export interface WorkflowOptions<Input> {
  /** Lower-case words joined by dashes. */
  readonly type: string;
  /** A positive integer, raised whenever the graph or the meaning of a step changes. Runs stay on theirs. */
  readonly planVersion: number;
  /** Checks the input of every start, and drops what the workflow does not use. */
  readonly input: ZodType<Input>;
  readonly on?: { readonly github?: GithubSubscription | readonly GithubSubscription[] };
  /** Declares the graph. Called once, at load, without I/O; the handles it returns name the outputs of the run. */
  steps(step: StepFactory<Input>): Readonly<Record<string, Handle<unknown>>>;
}

/** What every kind of step has, as the engine sees it; types of inputs and outputs were the compiler's business. */
interface AnyStep {
  readonly id: string;
  /** Name in the body → id of the step. */
  readonly needs: Readonly<Record<string, string>>;
  readonly when?: (context: Readonly<Record<string, unknown>>) => boolean;
  readonly ifSkipped: 'skip' | 'run';
  readonly idempotent: boolean;
  readonly resumable: boolean;
}

export interface PlainStep extends AnyStep {
  readonly kind: 'step';
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  readonly output?: ZodType<unknown>;
  readonly body: (context: Readonly<Record<string, unknown>>) => unknown;
}

export interface SleepStep extends AnyStep {
  readonly kind: 'sleep';
  /** When the sleep that begins at `now` ends, epoch ms. Throws for what is no duration or time. */
  readonly dueAt: (context: Readonly<Record<string, unknown>>, now: number) => number;
}

export type StepDefinition = PlainStep | SleepStep;

export interface Workflow {
  readonly type: string;
  readonly planVersion: number;
  readonly input: ZodType<unknown>;
  readonly github: readonly GithubSubscription[];
  readonly graph: Graph;
  readonly steps: ReadonlyMap<string, StepDefinition>;
  /** Name in the result of the run → id of the step. */
  readonly result: Readonly<Record<string, string>>;
}
