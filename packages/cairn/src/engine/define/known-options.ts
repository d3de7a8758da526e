/**
 * The options there are, by name. One that there is not is refused at load: types are stripped there and not checked, and a
 * misspelt option that is passed over would show only when it was needed. The compiler holds the lists to the types.
 *
 * Must not: look at values; each option is checked where it is read.
 */
import type * as types from './types.ts';

type Names<T> = Readonly<Record<keyof T & string, true>>;

type Step = types.StepOptions<unknown, types.Needs, unknown>;
type Items = types.MapOptions<unknown, types.Needs, unknown, unknown>;
type Approval = types.ApprovalOptions<unknown, types.Needs>;
type Event = types.EventOptions<unknown, types.Needs, unknown>;
type Sleep = types.SleepOptions<unknown, types.Needs>;
type Children = types.ChildrenOptions<unknown, types.Needs, unknown, unknown>;
interface Completing {
  readonly completion: types.Completion;
}

const common = { needs: true, reads: true, when: true, ifSkipped: true } as const;
const fanOut = { over: true, concurrency: true, completion: true } as const;

const step: Names<Step> = {
  ...common,
  retry: true,
  timeout: true,
  heartbeatTimeout: true,
  idempotent: true,
  resumable: true,
  policy: true,
  uses: true,
  output: true,
  onFailure: true,
  compensate: true,
};
const map: Names<Items & Completing> = { ...step, ...fanOut };
const approval: Names<Approval> = {
  ...common,
  ask: true,
  timeout: true,
  onExpiry: true,
  escalate: true,
  onFailure: true,
};
const event: Names<Event> = {
  ...common,
  event: true,
  key: true,
  timeout: true,
  output: true,
  onFailure: true,
};
const sleep: Names<Sleep> = { ...common, for: true, until: true };
const child: Names<Children & Completing> = {
  ...common,
  ...fanOut,
  workflow: true,
  input: true,
  onParentEnd: true,
  timeout: true,
  onFailure: true,
};

/** Of each kind of step. */
export const STEP_OPTIONS = { step, map, approval, event, sleep, child } as const;

export const WORKFLOW_OPTIONS: Names<types.WorkflowOptions<unknown>> = {
  type: true,
  planVersion: true,
  input: true,
  on: true,
  timeout: true,
  onDoubt: true,
  policy: true,
  retention: true,
  steps: true,
};

const retryPolicy = { maxAttempts: true, initialMs: true, factor: true, capMs: true } as const;
/** Of `retry`, and of an entry of `retry.perError`. */
export const RETRY_OPTIONS: Names<types.RetryOptions> = { ...retryPolicy, perError: true };
export const ERROR_RETRY_OPTIONS: Names<types.ErrorRetry> = { ...retryPolicy, match: true };

/** What is wrong with the names of these options; undefined: nothing. */
export function unknownOption(given: object, known: Readonly<Record<string, true>>): string | undefined {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return undefined;
  return `there is no option '${unknown}'; there are: ${Object.keys(known).sort().join(', ')}`;
}
