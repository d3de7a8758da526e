/** Makes a flow out of its options, and the definitions of the operations that its code requests. */

import { invalidInput } from '../../../core/errors.ts';
import { givenName, operationName } from '../../../core/flow/names.ts';
import { isRecord } from '../../../core/is-record.ts';
import type { Capability } from '../capability.ts';
import {
  invalidOption,
  OPERATION_OPTIONS,
  schemaProblem,
  UNDO_OPTIONS,
  unknownOption,
} from '../known-options.ts';
import * as define from '../step-definitions.ts';
import { bodyPart, common, type StepName, stepError, type UncheckedOptions } from '../step-options.ts';
import type * as steps from '../steps.ts';

/** The code is retried only if the flow declares it. */
const ONE_ATTEMPT = { maxAttempts: 1 };

export function flowStep(name: StepName, options: UncheckedOptions, code: unknown): steps.FlowStep {
  if (typeof code !== 'function')
    throw stepError(name, 'has no code: the last argument is an async function');
  // `compensate` of a flow has another shape than that of a step.
  const { compensate, ...given } = options;
  const shared = common('flow', name, given);
  const retry = { ...ONE_ATTEMPT, ...(options.retry as object | undefined) };
  const checked = bodyPart(name, { ...given, retry }, code);
  return {
    ...shared,
    type: name.type,
    code: code as steps.FlowStep['code'],
    uses: checked.uses,
    retry: checked.retry,
    retryPerError: checked.retryPerError,
    idleMs: checked.timeoutMs,
    answers: answersOf(name, options.answers),
    undo: undoOf(name, compensate),
    returns: checked.output,
  };
}

function answersOf(name: StepName, given: unknown = {}): steps.FlowStep['answers'] {
  if (!isRecord(given)) {
    throw stepError(name, `'answers' names approvals: { release: z.object({ … }) }`);
  }
  for (const [approval, schema] of Object.entries(given)) {
    assertOperation(name, 'answers', approval);
    const problem = schemaProblem(schema);
    if (problem !== undefined) throw stepError(name, `'answers.${approval}' is ${problem}`);
  }
  return given as steps.FlowStep['answers'];
}

function assertOperation(name: StepName, option: string, operation: string): void {
  try {
    operationName(operation);
  } catch (error) {
    throw stepError(name, `in '${option}' ${(error as Error).message}`);
  }
}

function undoOf(name: StepName, given: unknown = {}): steps.FlowStep['undo'] {
  if (!isRecord(given)) {
    throw stepError(
      name,
      `'compensate' of a flow names operations: { reserve: ({ output }) => release(output) }`,
    );
  }
  return Object.fromEntries(
    Object.entries(given).map(([operation, undo]) => {
      assertOperation(name, 'compensate', operation);
      return [operation, undoing({ type: name.type, id: `${name.id}.compensate.${operation}` }, undo)];
    }),
  );
}

function undoing(name: StepName, given: unknown): steps.OperationCompensation {
  const options = typeof given === 'function' ? { undo: given } : given;
  if (!isRecord(options) || typeof options.undo !== 'function') {
    throw stepError(name, `is a function, or { undo: ({ output }) => …, retry, timeout }`);
  }
  const problem = unknownOption(options, UNDO_OPTIONS) ?? invalidOption(options);
  if (problem !== undefined) throw stepError(name, problem);
  const { undo, ...more } = options;
  const { retry, retryPerError, timeoutMs } = bodyPart(name, more, undo);
  return { compensate: undo as steps.OperationCompensation['compensate'], retry, retryPerError, timeoutMs };
}

/**
 * A body of a flow as a plain step, which sees the same inputs as the flow.
 *
 * @throws CairnError INVALID_INPUT for options that the operation does not have
 */
export function operationStep(
  flow: steps.FlowStep,
  options: UncheckedOptions,
  body: steps.PlainStep['body'],
): steps.PlainStep {
  const problem = unknownOption(options, OPERATION_OPTIONS);
  if (problem !== undefined) throw stepError({ type: flow.type, id: flow.id }, problem);
  const { input: _, ...given } = options;
  const step = define.plainStep({ type: flow.type, id: flow.id }, given, body);
  for (const capability of step.uses) assertUsed(flow, capability);
  return { ...step, ...seenLike(flow) };
}

/** Definition of a wait of a flow, made from the options of the step of its kind. */
export function operationWait<K extends 'sleep' | 'event' | 'approval' | 'child'>(
  flow: steps.FlowStep,
  kind: K,
  { operation, options }: { readonly operation: string; readonly options: UncheckedOptions },
): steps.WaitStep {
  const name = { type: flow.type, id: flow.id };
  // An answer is checked on arrival, where options given in the code are not known.
  if (kind === 'event' && options.output !== undefined) {
    throw stepError(name, `'output' is not an option of flow.event: the code checks what it gets`);
  }
  if (kind === 'approval' && options.data !== undefined) {
    throw stepError(
      name,
      `'data' is no option of flow.approval: declare the schema in 'answers' of the flow: { ${operation}: schema }`,
    );
  }
  const data = kind === 'approval' ? answerSchema(flow, operation) : undefined;
  return { ...WAITS[kind](name, data ? { ...options, data } : options), ...seenLike(flow) };
}

/** Schema of the data with which an approval of the flow is answered. @param operation its name, with or without number */
export function answerSchema({ answers }: steps.FlowStep, operation: string) {
  const name = givenName(operation);
  return Object.hasOwn(answers, name) ? answers[name] : undefined;
}

const WAITS = {
  sleep: define.sleepStep,
  event: define.eventStep,
  approval: define.approvalStep,
  child: define.childStep,
} as const;

/** The step that undoes an operation of the flow; undefined: nothing does. @param operation its name, with number and index */
export function undoStep(flow: steps.FlowStep, operation: string): steps.PlainStep | undefined {
  const undoing = undoOfOperation(flow, operation);
  if (!undoing) return undefined;
  const step = define.plainStep({ type: flow.type, id: flow.id }, {}, () => null);
  return { ...step, ...seenLike(flow), uses: flow.uses, ...undoing };
}

export function undoOfOperation(
  { undo }: steps.FlowStep,
  operation: string,
): steps.OperationCompensation | undefined {
  const name = givenName(operation);
  return Object.hasOwn(undo, name) ? undo[name] : undefined;
}

function seenLike({ needs, reads }: steps.FlowStep): Pick<steps.FlowStep, 'needs' | 'reads'> {
  return { needs, reads };
}

function assertUsed(flow: steps.FlowStep, { id }: Capability): void {
  if (flow.uses.some((used) => used.id === id)) return;
  throw invalidInput('uses', `the flow '${flow.id}' does not list '${id}' in 'uses'`, {
    stepId: flow.id,
    help: 'Add the capability to the uses of the flow, and raise planVersion.',
  });
}
