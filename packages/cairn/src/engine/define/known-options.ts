/**
 * The known options, by name and by shape. Others are refused at load, because types are not checked there and a misspelt
 * option would otherwise be ignored. The compiler keeps the names in line with the types.
 *
 * Must not: check more of a value than its shape; each option is checked where it is read.
 */
import { closest } from '../../core/closest.ts';
import { isRecord } from '../../core/is-record.ts';
import { ON_PARENT_END } from '../../core/run/events.ts';
import type * as flows from './flow/types.ts';
import type * as types from './types.ts';

/** The names of the members of a type: one that is missing or unknown does not compile. */
export type Names<T> = Readonly<Record<keyof T & string, true>>;

type PlainStepOptions = types.StepOptions<unknown, types.Needs, unknown>;
type Items = types.MapOptions<unknown, types.Needs, unknown, unknown>;
type ApprovalStepOptions = types.ApprovalOptions<unknown, types.Needs, unknown>;
type Event = types.EventOptions<unknown, types.Needs, unknown>;
type Sleep = types.SleepOptions<unknown, types.Needs>;
type ChildrenStepOptions = types.ChildrenOptions<unknown, types.Needs, unknown, unknown>;
interface Completing {
  readonly completion: types.Completion;
}

const common = { needs: true, reads: true, when: true, ifSkipped: true } as const;
const set = { over: true, concurrency: true, completion: true } as const;

const step: Names<PlainStepOptions> = {
  ...common,
  retry: true,
  poll: true,
  timeout: true,
  heartbeatTimeout: true,
  idempotent: true,
  newAttempt: true,
  resumable: true,
  policy: true,
  uses: true,
  estimate: true,
  output: true,
  onFailure: true,
  compensate: true,
};
const map: Names<Items & Completing> = { ...step, ...set };
const approval: Names<ApprovalStepOptions> = {
  ...common,
  ask: true,
  data: true,
  timeout: true,
  onExpiry: true,
  escalate: true,
  onFailure: true,
};
const event: Names<Event> = {
  ...common,
  event: true,
  key: true,
  expected: true,
  timeout: true,
  heartbeat: true,
  output: true,
  onFailure: true,
};
const sleep: Names<Sleep> = { ...common, for: true, until: true };
const child: Names<ChildrenStepOptions & Completing> = {
  ...common,
  ...set,
  workflow: true,
  input: true,
  onParentEnd: true,
  timeout: true,
  onFailure: true,
};

const flow: Names<flows.FlowOptions<unknown, types.Needs, unknown>> = {
  ...common,
  retry: true,
  timeout: true,
  resumable: true,
  uses: true,
  output: true,
  onFailure: true,
  answers: true,
  compensate: true,
};

const loop: Names<flows.LoopOptions<unknown, types.Needs, unknown>> = {
  ...common,
  state: true,
  while: true,
  body: true,
  max: true,
  pause: true,
  retry: true,
  poll: true,
  timeout: true,
  heartbeatTimeout: true,
  resumable: true,
  uses: true,
  estimate: true,
  output: true,
  onFailure: true,
  compensate: true,
};

export const STEP_OPTIONS = { step, map, approval, event, sleep, child, flow, loop } as const;

/** Options of `flow.step`. */
export const OPERATION_OPTIONS: Names<flows.OperationOptions<unknown>> = {
  input: true,
  retry: true,
  poll: true,
  timeout: true,
  heartbeatTimeout: true,
  uses: true,
  estimate: true,
  output: true,
};

export const UNDO_OPTIONS: Names<flows.UndoOptions<unknown, types.Needs>> = {
  undo: true,
  retry: true,
  timeout: true,
};

const workflow = {
  type: true,
  planVersion: true,
  input: true,
  secretInput: true,
  tags: true,
  on: true,
  timeout: true,
  budget: true,
  onDoubt: true,
  policy: true,
  retention: true,
} as const;

export const WORKFLOW_OPTIONS: Names<types.WorkflowOptions<unknown>> = { ...workflow, steps: true };

export const FLOW_WORKFLOW_OPTIONS: Names<flows.FlowWorkflowOptions<unknown, unknown, unknown>> = {
  ...workflow,
  retry: true,
  uses: true,
  output: true,
  answers: true,
  compensate: true,
  run: true,
};

const retryMembers = { maxAttempts: true, initialMs: true, factor: true, capMs: true } as const;

/** Options of `retry` and of an entry of `retry.perError`. */
export const RETRY_OPTIONS: Names<types.RetryOptions> = { ...retryMembers, perError: true };
export const ERROR_RETRY_OPTIONS: Names<types.ErrorRetry> = { ...retryMembers, match: true };

interface OptionShape {
  fits(value: unknown): boolean;
  /** The shape and an example of it, or a description of the actual value. */
  readonly is: string | ((value: unknown) => string);
}

const isFunction = (value: unknown) => typeof value === 'function';
const isBoolean = (value: unknown) => typeof value === 'boolean';
const fn = (example: string): OptionShape => ({ fits: isFunction, is: `a function, such as ${example}` });
const flag: OptionShape = { fits: isBoolean, is: 'true or false' };
const within = (example: string): OptionShape => ({
  fits: (value) => isRecord(value) && 'within' in value && Object.keys(value).length === 1,
  is: `an object, such as { within: '${example}' }`,
});
const schema: OptionShape = {
  fits: (value) => schemaProblem(value) === undefined,
  is: (value) => schemaProblem(value) ?? '',
};
const oneOf = (...values: readonly string[]): OptionShape => ({
  fits: (value) => values.includes(value as string),
  is: values.map((value) => `'${value}'`).join(' or '),
});

/** Shapes of options that would otherwise fail only in a run. The same name has the same shape in every kind of step. */
const SHAPES: Readonly<Record<string, OptionShape>> = {
  when: fn('({ input }) => input.wanted'),
  policy: fn("() => ({ allowed: true, policySnapshotId: 'rules-1' })"),
  compensate: fn('({ output }) => remove(output)'),
  ifSkipped: oneOf('skip', 'run'),
  idempotent: flag,
  newAttempt: flag,
  resumable: flag,
  retry: { fits: isRecord, is: 'an object, such as { maxAttempts: 3 }' },
  poll: within('2h'),
  heartbeat: within('5m'),
  output: schema,
  data: schema,
  completion: {
    fits: (value) => isRecord(value) && ('tolerate' in value || 'atLeast' in value),
    is: "{ tolerate: 2 }, { tolerate: '10%' } or { atLeast: 5 }",
  },
  onExpiry: oneOf('fail', 'approve', 'halt'),
  escalate: {
    fits: (value) => isRecord(value) && typeof value.text === 'string',
    is: "an object, such as { after: '1h', text: 'Please answer' }",
  },
  workflow: {
    fits: (value) =>
      typeof value === 'string' || typeof (value as { type?: unknown } | null)?.type === 'string',
    is: 'a workflow or its type',
  },
  tags: fn('(input) => ({ customer: input.customerId })'),
  secretInput: {
    fits: (value) =>
      Array.isArray(value) &&
      value.every((path) => typeof path === 'string' && path.split('.').every(Boolean)),
    is: "a list of dotted paths, such as ['replyTo', 'customer.token']",
  },
  onParentEnd: oneOf(...ON_PARENT_END),
  onDoubt: oneOf('fail', 'ask'),
  on: { fits: isRecord, is: "an object, such as { schedule: { cron: '0 9 * * *' } }" },
};

/** Text after `'output' is`: what a schema must be, or is instead. Undefined: a Zod 4 schema, from any copy of the package. */
export function schemaProblem(value: unknown, example = 'z.string()'): string | undefined {
  const { safeParse, _def: made } = (value ?? {}) as { safeParse?: unknown; _def?: { typeName?: unknown } };
  if (!isFunction(safeParse)) return `a Zod schema, such as ${example}`;
  // Zod 4 does not name its types there.
  if (typeof made?.typeName !== 'string') return undefined;
  return 'a Zod 3 schema, whose members Cairn cannot read. Install Zod 4 where the workflow is defined: npm install zod@4';
}

/** Error for the first of these options with a wrong shape, with the correct form; undefined: none. */
export function invalidOption(given: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(given)) {
    const shape = Object.hasOwn(SHAPES, name) ? SHAPES[name] : undefined;
    if (value !== undefined && shape && !shape.fits(value)) return `'${name}' is ${textOf(shape, value)}`;
  }
  return undefined;
}

function textOf({ is }: OptionShape, value: unknown): string {
  return typeof is === 'string' ? is : is(value);
}

/** Error text for an unknown option name; undefined: none. */
export function unknownOption(given: object, known: Readonly<Record<string, true>>): string | undefined {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return undefined;
  const names = Object.keys(known).sort();
  const near = closest(unknown, names);
  return `unknown option '${unknown}'; use ${names.join(', ')}${near === undefined ? '' : `. Did you mean '${near}'?`}`;
}
