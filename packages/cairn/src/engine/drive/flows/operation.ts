/**
 * The operations as the code of a flow calls them: what each one asks for, and the step definition that carries it out.
 *
 * Must not: know what the journal has of an operation.
 */

import { type Json, toJsonText } from '../../../core/encoding/json.ts';
import { CairnError } from '../../../core/errors.ts';
import { itemName, operationName } from '../../../core/flow/names.ts';
import { operationRequest } from '../../../core/flow/operation-decision.ts';
import { isRecord } from '../../../core/is-record.ts';
import type { Question } from '../../define/approval.ts';
import type { Capability } from '../../define/capability.ts';
import { operationStep, operationWait } from '../../define/flow/flow-step.ts';
import type {
  Flow,
  FlowApprovalOptions,
  FlowChildOptions,
  FlowEventOptions,
  FlowMapOptions,
  OperationOptions,
  PerformOptions,
} from '../../define/flow/types.ts';
import type { UncheckedOptions } from '../../define/step-options.ts';
import type { Context, FlowStep, StepDefinition, Workflow } from '../../define/steps.ts';
import { checkedRequest } from '../../effects/rows.ts';
import { type CalledFunction, type CallOfCode, callsAbove } from './calls-above.ts';

/** An operation that the code asks for; made once its name has its number. */
export interface Operation extends CallOfCode {
  /** The name given by the code; an item of `flow.map` has its own name already. */
  readonly name: unknown;
  readonly isItem?: true;
  readonly make: () => { readonly request: string; readonly step: StepDefinition };
}

interface FlowParts {
  readonly step: FlowStep;
  readonly clock: { now(): number };
  readonly random: { unit(): number };
  readonly about: Pick<Flow<unknown>, 'runId' | 'stepId' | 'revision' | 'feedback' | 'log'>;
  /** Requests the operation and returns its answer. */
  readonly ask: (operation: Operation) => Promise<unknown>;
  /** The name with the number that it gets next. */
  readonly numbered: (name: unknown) => string;
  /** False: the location of the call is not recorded. */
  readonly isLocated: boolean;
}

type OperationBody = (context: never) => unknown;

const DEFAULT_CONCURRENCY = 8;

/** The object that the code of a flow gets. */
export function flowOf(parts: FlowParts): Flow<unknown> {
  const { step, ask, clock, random } = parts;
  const body = (name: unknown, call: unknown, options: unknown, from: CalledFunction) =>
    ask({
      name,
      from,
      make: () => ({
        request: operationRequest('step', jsonOf(checkedOptions(options).input, name)),
        step: operationStep(step, checkedOptions(options), bodyOf(called(call, name))),
      }),
    });
  const wait = (
    kind: 'sleep' | 'event' | 'approval' | 'child',
    name: unknown,
    { request, options }: { readonly request: () => Json; readonly options: () => UncheckedOptions },
  ) =>
    ask({
      name,
      from: flow[kind],
      make: () => ({
        request: operationRequest(kind, request()),
        step: operationWait(step, kind, { operation: String(name), options: options() }),
      }),
    });
  const flow: Record<Exclude<keyof Flow<unknown>, keyof FlowParts['about']>, CalledFunction> = {
    step: (name: string, call: OperationBody, options: OperationOptions<never> = {}) =>
      body(name, call, options, flow.step),
    perform: (capability: Capability, request: unknown, options: PerformOptions = {}) =>
      ask({
        name: options.name ?? capability?.id,
        from: flow.perform,
        make: () => performing(step, capability, request, options),
      }),
    sleep: (name: string, time: string | number | Date) =>
      wait('sleep', name, {
        // The time is not compared, because code that computes it from the clock requests another one each time.
        request: () => null,
        options: () => (time instanceof Date ? { until: time } : { for: time }),
      }),
    event: (name: string, options: FlowEventOptions) =>
      wait('event', name, {
        request: () => ({ event: options.event ?? name, key: options.key }),
        options: () => ({ ...checkedOptions(options), event: options.event ?? name, key: () => options.key }),
      }),
    approval: (name: string, question: Question, options: FlowApprovalOptions = {}) =>
      wait('approval', name, {
        request: () => jsonOf(question, name),
        options: () => ({ ...checkedOptions(options), ask: () => question }),
      }),
    child: (name: string, workflow: Workflow | string, input: unknown, options: FlowChildOptions = {}) =>
      wait('child', name, {
        request: () => ({
          workflow: typeof workflow === 'string' ? workflow : workflow?.type,
          input: jsonOf(input, name),
        }),
        options: () => ({ ...checkedOptions(options), workflow, input: () => input }),
      }),
    map: (
      name: string,
      items: readonly unknown[],
      call: OperationBody,
      options: FlowMapOptions<never> = {},
    ) => {
      const calls = parts.isLocated ? callsAbove(flow.map) : [];
      const mapping = mapped(parts, { name, items, call, options, from: flow.map, calls });
      // As with other operations, a rejection that the code does not await must not end the process.
      mapping.catch(() => {});
      return mapping;
    },
    now: (name = 'now') => body(name, () => clock.now(), {}, flow.now),
    random: (name = 'random') => body(name, () => random.unit(), {}, flow.random),
  };
  return { ...parts.about, ...flow } as unknown as Flow<unknown>;
}

/** Options of `perform` besides the name. */
const PERFORM_OPTIONS: readonly string[] = ['retry', 'timeout', 'estimate'];

function performing(step: FlowStep, capability: Capability, request: unknown, options: PerformOptions) {
  const { name: _, ...more } = checkedOptions(options);
  const unknown = Object.keys(more).find((option) => !PERFORM_OPTIONS.includes(option));
  if (unknown !== undefined)
    throw invalid(`unknown option '${unknown}' of perform; use name, ${PERFORM_OPTIONS.join(', ')}`);
  const { hash } = checkedRequest(capability, request);
  return {
    request: operationRequest('perform', [capability.id, hash]),
    step: operationStep(step, { ...more, uses: [capability] }, ({ perform }) =>
      (perform as (capability: Capability, request: unknown) => Promise<unknown>)(capability, request),
    ),
  };
}

interface Mapping extends Required<Pick<Operation, 'from' | 'calls'>> {
  readonly name: string;
  readonly items: readonly unknown[];
  readonly call: OperationBody;
  readonly options: FlowMapOptions<never>;
}

/** Begins no further item once one has failed, and ends when those that had begun have ended. */
async function mapped(
  { step, ask, numbered }: FlowParts,
  { name, items, call, options, from, calls }: Mapping,
) {
  if (!Array.isArray(items)) throw invalid(`the items of '${name}' must be an array`);
  const { concurrency = DEFAULT_CONCURRENCY, ...more } = checkedOptions(options) as typeof options;
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw invalid(`'concurrency' of '${name}' must be an integer of at least 1`);
  }
  const body = called(call, name);
  const known = numbered(operationName(name));
  const results: unknown[] = new Array(items.length);
  const failures: unknown[] = [];
  const waiting = items.entries();
  const work = async () => {
    for (const [index, item] of waiting) {
      if (failures.length > 0) return;
      try {
        results[index] = await ask({
          name: itemName(known, index),
          isItem: true,
          from,
          calls,
          make: () => ({
            request: operationRequest('step', jsonOf(item, name)),
            step: operationStep(step, checkedOptions(more), (context) =>
              body({ ...context, item, index } as never),
            ),
          }),
        });
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  if (failures.length > 0) throw failures[0];
  return results;
}

function bodyOf(call: OperationBody) {
  return ({ item: _, index: __, ...context }: Context) => call(context as never);
}

function called(call: unknown, name: unknown): OperationBody {
  if (typeof call !== 'function') throw invalid(`the operation '${String(name)}' has no body`);
  return call as OperationBody;
}

function checkedOptions(options: unknown): UncheckedOptions {
  if (!isRecord(options)) throw invalid('the options of an operation must be an object');
  return options;
}

function jsonOf(value: unknown, name: unknown): Json {
  return JSON.parse(toJsonText(value ?? null, `what '${String(name)}' asks for`)) as Json;
}

function invalid(message: string): CairnError {
  return new CairnError('INVALID_INPUT', message, {
    help: 'docs/flows.md lists the operations and their options.',
  });
}
