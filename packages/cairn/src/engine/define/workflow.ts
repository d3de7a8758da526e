/** Turns an author's definition into the workflow that the engine runs; all its errors are thrown here, at load. */

import type { ZodType } from 'zod';
import { budgetLimits } from '../../core/budget/given.ts';
import { parseDuration } from '../../core/duration.ts';
import { CairnError } from '../../core/errors.ts';
import { MAX_TURNS_IN_A_RUN } from '../../core/flow/parts.ts';
import { buildGraph, type Graph } from '../../core/graph/graph.ts';
import { isRecord } from '../../core/is-record.ts';
import { present } from '../../core/optional.ts';
import { flowStep } from './flow/flow-step.ts';
import { loopStep } from './flow/loop-step.ts';
import type { AnswerSchemas, AskingFlow, FlowWorkflowOptions } from './flow/types.ts';
import {
  FLOW_WORKFLOW_OPTIONS,
  invalidOption,
  schemaProblem,
  unknownOption,
  WORKFLOW_OPTIONS,
} from './known-options.ts';
import { pubsubSubscriptions } from './pubsub.ts';
import { retentionFor } from './retention.ts';
import { schedulesOfWorkflow } from './schedules.ts';
import { slackSubscriptions } from './slack.ts';
import * as define from './step-definitions.ts';
import { HELP, handleIds, invalid, type StepName, stepError, type UncheckedOptions } from './step-options.ts';
import type { StepDefinition, Workflow } from './steps.ts';
import type { Handle, Needs, ResultOf, StepFactory, TypedWorkflow, WorkflowOptions } from './types.ts';

const TYPE_PATTERN = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_TYPE_LENGTH = 100;

/**
 * Defines a workflow. Call it at module level: the graph is built once, at load, and must not depend on I/O.
 *
 * @throws CairnError INVALID_INPUT naming the step and the reason
 */
export function defineWorkflow<Input, Takes, T, A extends AnswerSchemas = Record<never, never>>(
  options: FlowWorkflowOptions<Input, Takes, T, A>,
): TypedWorkflow<Takes, { readonly output: T | null }>;
export function defineWorkflow<Input, Takes = unknown, Returned extends Needs = Needs>(
  options: WorkflowOptions<Input, Takes, Returned>,
): TypedWorkflow<Takes, ResultOf<Returned>>;
export function defineWorkflow(
  given: WorkflowOptions<unknown> | FlowWorkflowOptions<unknown, unknown, unknown>,
): Workflow {
  if (!isRecord(given)) throw invalid('?', 'options', 'defineWorkflow takes one options object');
  const options = isOneFlow(given) ? ofOneFlow(given) : (given as unknown as WorkflowOptions<unknown>);
  const { type, planVersion } = options;
  if (typeof type !== 'string' || !TYPE_PATTERN.test(type) || type.length > MAX_TYPE_LENGTH) {
    throw invalid(type, 'type', `the type '${type}' must be lower-case words joined by hyphens`);
  }
  if (!Number.isSafeInteger(planVersion) || planVersion < 1) {
    throw invalid(
      type,
      'planVersion',
      `planVersion must be a positive integer, not ${JSON.stringify(planVersion)}`,
    );
  }
  assertShape(options);
  const steps: StepDefinition[] = [];
  const returned = options.steps(factoryInto(steps, type));
  if (steps.length === 0) throw invalid(type, 'steps', 'a workflow needs at least one step');
  const byId = new Map(steps.map((step) => [step.id, step]));
  const { github, schedule, pubsub, slack } = options.on ?? {};
  const secretInput = secretPathsOf(options);
  for (const step of steps) assertStaysInRun(type, step, { budget: options.budget, secretInput });
  return {
    type,
    planVersion,
    input: options.input,
    secretInput,
    github: [github ?? []].flat(),
    pubsub: pubsubSubscriptions(type, [pubsub ?? []].flat()),
    slack: slackSubscriptions(type, [slack ?? []].flat()),
    schedules: schedulesOfWorkflow({ ...options, secretInput }, [schedule ?? []].flat()),
    onDoubt: options.onDoubt ?? 'fail',
    retention: retentionFor(type, options.retention),
    graph: graphOf(type, steps),
    steps: byId,
    result: resultOf(type, returned, byId),
    ...(options.timeout === undefined
      ? {}
      : { timeoutMs: parseDuration(options.timeout, `${type}.timeout`, `workflow '${type}': 'timeout'`) }),
    ...(options.budget === undefined ? {} : { budget: budgetLimits(options.budget, `${type}.budget`) }),
    ...(options.tags ? { tags: options.tags as NonNullable<Workflow['tags']> } : {}),
    ...(options.policy ? { policy: options.policy as NonNullable<Workflow['policy']> } : {}),
  };
}

const FLOW_ID = 'flow';

function isOneFlow(given: object): given is FlowWorkflowOptions<unknown, unknown, unknown> {
  return 'run' in given;
}

/** @throws CairnError INVALID_INPUT for an option that such a workflow does not have */
function ofOneFlow(given: FlowWorkflowOptions<unknown, unknown, unknown>): WorkflowOptions<unknown> {
  if ('steps' in given) throw invalid(given.type, 'options', `has either 'steps' or 'run', not both`);
  const problem = unknownOption(given, FLOW_WORKFLOW_OPTIONS);
  if (problem !== undefined) throw invalid(given.type, 'options', problem);
  const { run, uses, output, retry, answers, compensate, ...options } = given;
  if (typeof run !== 'function') throw invalid(given.type, 'run', `'run' must be an async function`);
  const code = (flow: AskingFlow<unknown, Record<never, never>>, { input }: { readonly input: unknown }) =>
    run(flow, input);
  const own = present({ uses, output, retry, answers, compensate });
  return { ...options, steps: (step) => ({ output: step.flow(FLOW_ID, own, code) }) };
}

/** The `response_url` of a slash command allows its holder to post in the channel. */
function secretPathsOf({
  secretInput = [],
  on,
}: Pick<WorkflowOptions<unknown>, 'secretInput' | 'on'>): readonly string[] {
  return on?.slack === undefined ? secretInput : [...new Set([...secretInput, 'responseUrl'])];
}

/** @throws CairnError INVALID_INPUT for a loop that continues in child runs, if the workflow does not allow it */
function assertStaysInRun(
  type: string,
  step: StepDefinition,
  { budget, secretInput }: { readonly budget: unknown; readonly secretInput: readonly string[] },
): void {
  if (step.kind !== 'flow' || !step.loop?.isLong) return;
  const bounded = (why: string) =>
    stepError({ type, id: step.id }, `'max' is at most ${MAX_TURNS_IN_A_RUN} in a workflow with ${why}`);
  if (budget !== undefined) throw bounded(`'budget': child runs of a longer loop would not count for it`);
  if (secretInput.length > 0)
    throw bounded(`secret input: child runs of a longer loop would store a copy of it that people can read`);
}

/** Validates at run time what the compiler checks for TypeScript callers. */
function assertShape(
  options: object & { readonly type: string; readonly input?: unknown; readonly steps?: unknown },
): void {
  const { type, input, steps } = options;
  const problem = unknownOption(options, WORKFLOW_OPTIONS) ?? invalidOption({ ...options });
  if (problem !== undefined) throw invalid(type, 'options', problem);
  if (typeof (input as Partial<ZodType> | undefined)?.safeParse !== 'function') {
    throw invalid(type, 'input', `'input' must be a Zod schema, such as z.object({})`);
  }
  const unread = schemaProblem(input);
  if (unread !== undefined) throw invalid(type, 'input', `'input' is ${unread}`);
  if (typeof steps !== 'function') throw invalid(type, 'steps', `needs the function 'steps' or 'run'`);
}

function resultOf(
  type: string,
  returned: unknown,
  byId: ReadonlyMap<string, StepDefinition>,
): Record<string, string> {
  const isPromise = returned instanceof Promise;
  if (typeof returned !== 'object' || returned === null || isPromise || Array.isArray(returned)) {
    const what = isPromise ? 'a promise' : Array.isArray(returned) ? 'a list' : String(returned);
    throw invalid(type, 'steps', `'steps' must return an object of step handles by output name, not ${what}`);
  }
  const ids = Object.entries(handleIds(returned as Needs));
  return Object.fromEntries(
    ids.map(([name, id]) => {
      if (id !== undefined && byId.has(id)) return [name, id];
      throw invalid(type, 'steps', `the result '${name}' is not a step handle of this workflow`);
    }),
  );
}

function graphOf(type: string, steps: readonly StepDefinition[]): Graph {
  const nodes = steps.map(({ id, needs, ifSkipped }) => ({
    id,
    needs: [...new Set(Object.values(needs))],
    ifSkipped,
  }));
  try {
    return buildGraph(nodes);
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    const { field = 'steps', stepId, message } = error;
    throw new CairnError(error.code, `workflow '${type}': ${message}`, {
      field,
      help: HELP,
      ...(stepId === undefined ? {} : { stepId }),
    });
  }
}

/** The author's `step`: every call records a definition and returns a handle to it. */
function factoryInto<Input>(steps: StepDefinition[], type: string): StepFactory<Input> {
  const noted =
    (make: (name: StepName, options: UncheckedOptions, body: unknown) => StepDefinition) =>
    (id: string, options: unknown, body?: unknown): Handle<never> => {
      const step = make({ type, id }, assertCall(type, id, options), body);
      steps.push(step);
      return { id: step.id };
    };
  const plain = noted(define.plainStep);
  return Object.assign(
    (id: string, ...rest: readonly unknown[]) => {
      if (rest.length === 0) throw stepError({ type, id }, `lacks its function: step('${id}', () => …)`);
      return rest.length === 1 ? plain(id, {}, rest[0]) : plain(id, rest[0], rest[1]);
    },
    {
      map: noted(define.mapStep),
      approval: noted(define.approvalStep),
      event: noted(define.eventStep),
      sleep: noted(define.sleepStep),
      child: noted(define.childStep),
      flow: noted(flowStep),
      loop: noted(loopStep),
    },
  ) as unknown as StepFactory<Input>;
}

function assertCall(type: string, id: unknown, options: unknown): UncheckedOptions {
  if (typeof id !== 'string')
    throw invalid(type, 'steps', `the first argument of a step is its name, not ${typeof id}`);
  if (typeof options === 'function')
    throw stepError({ type, id }, `the function of a step comes last: step('${id}', { … }, () => …)`);
  if (!isRecord(options)) {
    throw stepError({ type, id }, `the options of a step must be an object, such as { needs: { before } }`);
  }
  return options;
}
