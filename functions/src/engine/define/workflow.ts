/** Turns an author's definition into the workflow the engine runs; everything wrong with it is said here, at load. */

import { retryPolicy } from '../../core/decisions/retry.ts';
import { parseDuration } from '../../core/duration.ts';
import { CairnError, Fatal } from '../../core/errors.ts';
import { buildGraph } from '../../core/graph/graph.ts';
import { LONGEST_STEP_MS, PRODUCTION_SETTINGS } from '../settings.ts';
import type {
  Handle,
  Needs,
  PlainStep,
  SleepOptions,
  SleepStep,
  StepDefinition,
  StepFactory,
  StepOptions,
  Workflow,
  WorkflowOptions,
} from './types.ts';

const TYPE_PATTERN = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_TYPE_LENGTH = 100;
/** Names a body's context has of its own; a need must not hide one. */
const RESERVED = new Set([
  'input',
  'runId',
  'stepId',
  'attempt',
  'revision',
  'signal',
  'log',
  'feedback',
  'item',
  'index',
  'perform',
  'memo',
  'heartbeat',
]);

/**
 * Defines a workflow. Call it at module level: the graph is built once, at load, and must not depend on I/O.
 *
 * @throws CairnError INVALID_INPUT naming the step and the reason
 */
export function defineWorkflow<Input>(options: WorkflowOptions<Input>): Workflow {
  const { type, planVersion } = options;
  if (!TYPE_PATTERN.test(type) || type.length > MAX_TYPE_LENGTH) {
    throw invalid(type, 'type', `the type '${type}' must be lower-case words joined by dashes`);
  }
  if (!Number.isSafeInteger(planVersion) || planVersion < 1) {
    throw invalid(type, 'planVersion', `planVersion must be a positive integer, not ${planVersion}`);
  }
  const steps: StepDefinition[] = [];
  const factory = ((id: string, ...rest: readonly unknown[]): Handle<unknown> => {
    const [given, body] = rest.length === 1 ? [{}, rest[0]] : rest;
    steps.push(stepDefinition(type, id, given as StepOptions<unknown, Needs, unknown>, body));
    return { id };
  }) as StepFactory<Input>;
  factory.sleep = (id, sleep) => {
    steps.push(sleepDefinition(type, id, sleep as SleepOptions<unknown, Needs>));
    return { id };
  };
  const returned = options.steps(factory);
  if (steps.length === 0) throw invalid(type, 'steps', 'a workflow needs at least one step');

  const byId = new Map(steps.map((step) => [step.id, step]));
  const result = handleIds(returned);
  for (const [name, id] of Object.entries(result)) {
    if (!byId.has(id)) throw invalid(type, 'steps', `the result '${name}' is no handle of this workflow`);
  }
  const graph = buildGraph(
    steps.map((step) => ({
      id: step.id,
      needs: [...new Set(Object.values(step.needs))],
      ifSkipped: step.ifSkipped,
    })),
  );
  const github = options.on?.github ?? [];
  return {
    type,
    planVersion,
    input: options.input,
    github: Array.isArray(github) ? github : [github],
    graph,
    steps: byId,
    result,
  };
}

function stepDefinition(
  type: string,
  id: string,
  options: StepOptions<unknown, Needs, unknown>,
  body: unknown,
): PlainStep {
  if (typeof body !== 'function') throw invalid(type, id, `step '${id}' has no body`);
  const needs = needIds(type, id, options.needs);
  const timeoutMs = parseDuration(options.timeout ?? PRODUCTION_SETTINGS.stepTimeoutMs, `${id}.timeout`);
  if (timeoutMs > LONGEST_STEP_MS) {
    throw invalid(
      type,
      id,
      `step '${id}': a timeout of ${timeoutMs} ms does not fit one drive; the longest is ${LONGEST_STEP_MS} ms`,
    );
  }
  return {
    kind: 'step',
    id,
    needs,
    ifSkipped: options.ifSkipped ?? 'skip',
    retry: retryPolicy(options.retry),
    timeoutMs,
    idempotent: options.idempotent ?? true,
    resumable: options.resumable ?? true,
    body: body as PlainStep['body'],
    ...(options.when ? { when: options.when as NonNullable<PlainStep['when']> } : {}),
    ...(options.output ? { output: options.output } : {}),
  };
}

function sleepDefinition(type: string, id: string, options: SleepOptions<unknown, Needs>): SleepStep {
  if ((options.for === undefined) === (options.until === undefined)) {
    throw invalid(type, id, `step '${id}': a sleep has either 'for' or 'until'`);
  }
  // A fixed duration that is none is said now, not when a run first comes to it.
  if (options.for !== undefined && typeof options.for !== 'function') parseDuration(options.for, `${id}.for`);
  return {
    kind: 'sleep',
    id,
    needs: needIds(type, id, options.needs),
    ifSkipped: options.ifSkipped ?? 'skip',
    idempotent: true,
    resumable: true,
    dueAt: (context, now) => sleepEnd(options, context, now),
    ...(options.when ? { when: options.when as NonNullable<SleepStep['when']> } : {}),
  };
}

function sleepEnd(
  options: SleepOptions<unknown, Needs>,
  context: Readonly<Record<string, unknown>>,
  now: number,
): number {
  const seen = context as never;
  if (options.for !== undefined) {
    const duration = typeof options.for === 'function' ? options.for(seen) : options.for;
    return now + parseDuration(duration, 'for');
  }
  const until = typeof options.until === 'function' ? options.until(seen) : options.until;
  const at = until instanceof Date ? until.getTime() : until;
  if (typeof at !== 'number' || !Number.isFinite(at)) throw new Fatal(`'until' is no time: ${String(until)}`);
  return Math.round(at);
}

function needIds(type: string, id: string, given: Needs = {}): Record<string, string> {
  const needs = handleIds(given);
  for (const name of Object.keys(needs)) {
    if (RESERVED.has(name))
      throw invalid(type, id, `step '${id}': a need cannot be called '${name}', the body has that already`);
  }
  return needs;
}

function handleIds(handles: Readonly<Record<string, Handle<unknown>>>): Record<string, string> {
  return Object.fromEntries(Object.entries(handles).map(([name, handle]) => [name, handle.id]));
}

function invalid(type: string, field: string, message: string): CairnError {
  return new CairnError('INVALID_INPUT', `workflow '${type}': ${message}`, { field });
}
