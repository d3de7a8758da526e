/**
 * The options that several kinds of step share: checked, and completed from the defaults. Errors name the workflow and the
 * step; the `field` of the error is the step, or `step.option`.
 */
import { type Spend, sumOfSpends } from '../../core/budget/budget.ts';
import { estimatedSpend } from '../../core/budget/given.ts';
import type { CompletionRule } from '../../core/decisions/item-progress.ts';
import { type RetryPolicy, retryPolicy } from '../../core/decisions/retry.ts';
import { parseDuration } from '../../core/duration.ts';
import { toJsonText } from '../../core/encoding/json.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import { MAX_ITEMS } from '../../core/run/limits.ts';
import { LONGEST_STEP_ANYWHERE_MS, PRODUCTION_SETTINGS } from '../settings.ts';
import type { Capability } from './capability.ts';
import {
  ERROR_RETRY_OPTIONS,
  invalidOption,
  RETRY_OPTIONS,
  STEP_OPTIONS,
  unknownOption,
} from './known-options.ts';
import type * as steps from './steps.ts';
import type * as types from './types.ts';

/** Unchecked options: the compiler has checked those of TypeScript callers only. */
export type UncheckedOptions = Readonly<Record<string, unknown>>;

export interface StepName {
  readonly type: string;
  readonly id: string;
}

/** Members of a body's context, whose names a need must not hide. */
const RESERVED = new Set([
  'input',
  'runId',
  'stepId',
  'attempt',
  'revision',
  'feedback',
  'signal',
  'progress',
  'heartbeat',
  'memo',
  'usage',
  'log',
  'stream',
  'item',
  'index',
  'output',
  'perform',
]);
const DEFAULT_CONCURRENCY = 8;

/** Name → id of the step; undefined if a value is not a handle. */
export function handleIds(
  handles: Readonly<Record<string, types.Handle<unknown> | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(handles).map(([name, handle]) => [name, handle?.id]));
}

/** For the author of the definition, who reads it at load. */
export const HELP = 'Correct the workflow definition. docs/steps.md lists all options.';

export function invalid(type: string, field: string, message: string): CairnError {
  return invalidInput(field, `workflow '${type}': ${message}`, { help: HELP });
}

/** Adds the step to an error that names only its option. @throws CairnError with workflow and step before the message */
function naming<T>({ type, id }: StepName, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    const { code, field, help, message } = error;
    throw new CairnError(code, `workflow '${type}': step '${id}': ${message}`, {
      ...(field === undefined ? {} : { field }),
      help,
      cause: error,
    });
  }
}

/** @throws CairnError INVALID_INPUT naming workflow, step and option */
export function durationOf({ type, id }: StepName, option: string, given: string | number): number {
  return parseDuration(given, `${id}.${option}`, `workflow '${type}': step '${id}': '${option}'`);
}

/** Common options of steps. @throws CairnError INVALID_INPUT, also for an option that steps of this kind do not have */
export function common<K extends keyof typeof STEP_OPTIONS>(
  kind: K,
  name: StepName,
  options: UncheckedOptions,
) {
  const problem = unknownOption(options, STEP_OPTIONS[kind]) ?? invalidOption(options);
  if (problem !== undefined) throw stepError(name, problem);
  const { needs, when, ifSkipped, idempotent, resumable, onFailure } = options as types.StepOptions<
    unknown,
    types.Needs,
    unknown
  >;
  return {
    kind,
    id: name.id,
    needs: needIds(name, needs),
    ifSkipped: ifSkipped ?? ('skip' as const),
    idempotent: idempotent ?? true,
    resumable: resumable ?? true,
    onFailure: failurePolicy(name, onFailure),
    ...readsOf(name, options),
    ...(when ? { when: when as (context: steps.Context) => boolean } : {}),
  };
}

export function bodyPart(name: StepName, options: UncheckedOptions, body: unknown) {
  if (typeof body !== 'function') throw stepError(name, 'has no body');
  const given = options as types.StepOptions<unknown, types.Needs, unknown>;
  const timeoutMs = durationOf(name, 'timeout', given.timeout ?? PRODUCTION_SETTINGS.stepTimeoutMs);
  if (timeoutMs > LONGEST_STEP_ANYWHERE_MS) {
    throw stepError(
      name,
      `a timeout of ${timeoutMs} ms exceeds the longest dispatch; the maximum is ${LONGEST_STEP_ANYWHERE_MS} ms`,
    );
  }
  assertRetryOptions(name, given.retry);
  const { perError = [], ...policy } = given.retry ?? {};
  const retry = retryOf(name, 'retry', policy);
  return {
    retry,
    ...newAttemptOf(name, given, retry),
    retryPerError: perError.map(({ match, ...own }, i) => ({
      match,
      policy: retryOf(name, `retry.perError[${i}]`, { ...retry, ...own }),
    })),
    timeoutMs,
    ...(given.poll ? { poll: { withinMs: durationOf(name, 'poll.within', given.poll.within) } } : {}),
    uses: usesOf(name, given),
    ...estimateOf(name, given),
    body: body as steps.PlainStep['body'],
    ...(given.heartbeatTimeout === undefined
      ? {}
      : { heartbeatTimeoutMs: durationOf(name, 'heartbeatTimeout', given.heartbeatTimeout) }),
    ...(given.output ? { output: given.output } : {}),
    ...(given.policy ? { policy: given.policy as steps.AnyPolicy } : {}),
    ...(given.compensate ? { compensate: given.compensate as (context: steps.Context) => unknown } : {}),
  };
}

export function setRules(name: StepName, options: UncheckedOptions): steps.SetRules {
  const { concurrency = DEFAULT_CONCURRENCY, completion } = options as {
    concurrency?: number;
    completion?: types.Completion;
  };
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw stepError(name, `'concurrency' must be an integer of at least 1`);
  }
  return { over: required(name, options, 'over'), concurrency, completion: completionOf(name, completion) };
}

function readsOf(name: StepName, { reads }: UncheckedOptions): { reads?: readonly string[] } {
  if (reads === undefined) return {};
  if (!Array.isArray(reads) || !reads.every((member) => typeof member === 'string')) {
    throw stepError(name, `'reads' must be a list of member names of the input`);
  }
  return { reads: [...new Set<string>(reads)].sort() };
}

/** A body that must not run twice cannot ask for permission, because it would restart after the answer (E6). */
function usesOf(
  name: StepName,
  { uses = [], idempotent = true }: types.StepOptions<unknown, types.Needs, unknown>,
) {
  if (!Array.isArray(uses)) throw stepError(name, `'uses' lists capabilities`);
  const ids = new Set<string>();
  for (const capability of uses as readonly Capability[]) {
    if (typeof capability?.id !== 'string')
      throw stepError(name, `'uses' must be a list of capabilities (defineCapability)`);
    if (ids.has(capability.id)) throw stepError(name, `'uses' names '${capability.id}' twice`);
    ids.add(capability.id);
    if ((capability.requiresConfirmation || capability.replayPolicy === 'require_human') && !idempotent) {
      const why = `'${capability.id}' may open an approval, after which the body runs again`;
      throw stepError(name, `${why}: the step cannot be declared 'idempotent: false'`);
    }
  }
  return uses as readonly Capability[];
}

/** The estimate of the step; without one, the sum of one call of each capability that it uses. */
function estimateOf(
  name: StepName,
  { estimate, uses = [] }: types.StepOptions<unknown, types.Needs, unknown>,
): { estimate?: Spend } {
  if (estimate !== undefined)
    return { estimate: naming(name, () => estimatedSpend(estimate, `${name.id}.estimate`)) };
  const known = uses.flatMap((capability) => (capability.estimate ? [capability.estimate as Spend] : []));
  if (known.length === 0) return {};
  return { estimate: sumOfSpends(known) };
}

function newAttemptOf(
  name: StepName,
  { newAttempt, idempotent = true }: types.StepOptions<unknown, types.Needs, unknown>,
  { maxAttempts }: RetryPolicy,
): { newAttempt?: true } {
  if (!newAttempt) return {};
  if (idempotent) throw stepError(name, `'newAttempt' requires 'idempotent: false'`);
  if (maxAttempts < 2) throw stepError(name, `'newAttempt' requires a 'retry' of at least 2 attempts`);
  return { newAttempt };
}

function assertRetryOptions(name: StepName, given: types.RetryOptions = {}): void {
  const problems = [
    ['retry', unknownOption(given, RETRY_OPTIONS)],
    ...(given.perError ?? []).map((entry, i) => [
      `retry.perError[${i}]`,
      unknownOption(entry, ERROR_RETRY_OPTIONS),
    ]),
  ];
  const [option, problem] = problems.find(([, problem]) => problem !== undefined) ?? [];
  if (problem !== undefined) {
    throw invalid(name.type, `${name.id}.${option}`, `step '${name.id}': in '${option}' ${problem}`);
  }
}

function retryOf(name: StepName, option: string, given: Partial<RetryPolicy>): RetryPolicy {
  try {
    return retryPolicy(given, option);
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    throw invalid(name.type, `${name.id}.${error.field}`, `step '${name.id}': ${error.message}`);
  }
}

function completionOf(name: StepName, given: types.Completion | undefined): CompletionRule {
  if (given === undefined) return { kind: 'all' };
  if ('atLeast' in given) return { kind: 'at_least', successes: count(name, 'atLeast', given.atLeast) };
  if (typeof given.tolerate === 'number') {
    return { kind: 'tolerate', failures: count(name, 'tolerate', given.tolerate) };
  }
  const [, share] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(given.tolerate) ?? [];
  const percent = Number(share);
  if (share === undefined || percent > 100) {
    throw stepError(name, `'tolerate' must be a count or a percentage such as '10%'`);
  }
  return { kind: 'share', percent };
}

function count(name: StepName, option: string, given: number): number {
  if (Number.isSafeInteger(given) && given >= 0 && given <= MAX_ITEMS) return given;
  throw stepError(name, `'${option}' must be an integer from 0 to ${MAX_ITEMS}`);
}

function failurePolicy(name: StepName, given: types.OnFailure<unknown> = 'fail'): steps.FailurePolicy {
  if (given === 'fail' || given === 'skip') return { kind: given };
  if (typeof given !== 'object' || given === null || !('degradeTo' in given)) {
    throw stepError(name, `'onFailure' must be 'fail', 'skip' or { degradeTo: value }`);
  }
  const text = naming(name, () => toJsonText(given.degradeTo, `${name.id}.onFailure.degradeTo`));
  return { kind: 'degrade', text };
}

export function timeout(name: StepName, { timeout }: UncheckedOptions): { timeoutMs?: number } {
  if (timeout === undefined) return {};
  return { timeoutMs: durationOf(name, 'timeout', timeout as string | number) };
}

export function required<T>(name: StepName, options: UncheckedOptions, option: string): T {
  if (typeof options[option] !== 'function') throw stepError(name, `needs the function '${option}'`);
  return options[option] as T;
}

function needIds(name: StepName, given: types.Needs = {}): Record<string, string> {
  if (!isRecord(given) || isHandle(given)) {
    throw stepError(
      name,
      `'needs' must be an object that names each step: needs: { ${exampleNeeds(given)} }`,
    );
  }
  const needs: Record<string, string> = {};
  for (const [need, id] of Object.entries(handleIds(given))) {
    if (RESERVED.has(need))
      throw stepError(name, `a need cannot be named '${need}': the name is reserved in the body context`);
    if (id === undefined) throw stepError(name, `the need '${need}' is not a step of this workflow`);
    needs[need] = id;
  }
  return needs;
}

function isHandle(value: unknown): value is types.Handle<unknown> {
  return isRecord(value) && typeof value.id === 'string';
}

/** Example of the correct form, with those given steps whose names are JavaScript identifiers. */
function exampleNeeds(given: unknown): string {
  const ids = [given].flat().flatMap((one) => (isHandle(one) ? [one.id] : []));
  return ids.filter((id) => /^[a-z]\w*$/i.test(id)).join(', ') || 'name: step';
}

export function stepError({ type, id }: StepName, problem: string): CairnError {
  return invalid(type, id, `step '${id}': ${problem}`);
}
