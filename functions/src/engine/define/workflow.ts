/** Turns an author's definition into the workflow the engine runs; everything wrong with it is said here, at load. */

import { parseDuration } from '../../core/duration.ts';
import { buildGraph } from '../../core/graph/graph.ts';
import { pubsubSubscriptions } from './pubsub.ts';
import { retentionFor } from './retention.ts';
import { declaredSchedules } from './schedules.ts';
import { slackSubscriptions } from './slack.ts';
import * as define from './step-definitions.ts';
import { type Given, handleIds, invalid } from './step-options.ts';
import type { StepDefinition, Workflow } from './steps.ts';
import type { Handle, StepFactory, WorkflowOptions } from './types.ts';

const TYPE_PATTERN = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_TYPE_LENGTH = 100;

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
  const returned = options.steps(factoryInto(steps, type));
  if (steps.length === 0) throw invalid(type, 'steps', 'a workflow needs at least one step');

  const byId = new Map(steps.map((step) => [step.id, step]));
  const result: Record<string, string> = {};
  for (const [name, id] of Object.entries(handleIds(returned))) {
    if (id === undefined || !byId.has(id))
      throw invalid(type, 'steps', `the result '${name}' is no handle of this workflow`);
    result[name] = id;
  }
  const graph = buildGraph(
    steps.map((step) => ({
      id: step.id,
      needs: [...new Set(Object.values(step.needs))],
      ifSkipped: step.ifSkipped,
    })),
  );
  const github = options.on?.github ?? [];
  const schedule = options.on?.schedule ?? [];
  const pubsub = options.on?.pubsub ?? [];
  const slack = options.on?.slack ?? [];
  return {
    type,
    planVersion,
    input: options.input,
    github: Array.isArray(github) ? github : [github],
    pubsub: pubsubSubscriptions(type, [pubsub].flat()),
    slack: slackSubscriptions(type, Array.isArray(slack) ? slack : [slack]),
    schedules: declaredSchedules(options, Array.isArray(schedule) ? schedule : [schedule]),
    onDoubt: options.onDoubt ?? 'fail',
    retention: retentionFor(type, options.retention),
    graph,
    steps: byId,
    result,
    ...(options.timeout === undefined
      ? {}
      : { timeoutMs: parseDuration(options.timeout, `${type}.timeout`) }),
    ...(options.policy ? { policy: options.policy as NonNullable<Workflow['policy']> } : {}),
  };
}

/** The author's `step`: every call notes a definition and returns a handle to it. */
function factoryInto<Input>(steps: StepDefinition[], type: string): StepFactory<Input> {
  const note = (step: StepDefinition): Handle<never> => {
    steps.push(step);
    return { id: step.id };
  };
  const plain = (id: string, ...rest: readonly unknown[]) => {
    const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
    return note(define.plainStep({ type, id }, options as Given, body));
  };
  return Object.assign(plain, {
    map: (id: string, options: Given, body: unknown) => note(define.mapStep({ type, id }, options, body)),
    approval: (id: string, options: Given) => note(define.approvalStep({ type, id }, options)),
    event: (id: string, options: Given) => note(define.eventStep({ type, id }, options)),
    sleep: (id: string, options: Given) => note(define.sleepStep({ type, id }, options)),
    child: (id: string, options: Given) => note(define.childStep({ type, id }, options)),
  }) as unknown as StepFactory<Input>;
}
