/**
 * Undoes what a run did, once it is clear that it ends badly: compensations of completed steps in reverse order of
 * completion, each recorded; one that fails does not keep the others from running.
 *
 * Must not: decide that a run ends badly, or end it.
 */

import { compensationsDue } from '../../core/decisions/compensation.ts';
import { nextRetry } from '../../core/decisions/retry.ts';
import { listChange, markOf } from '../../core/plan/item-marks.ts';
import type { EventDraft, RecordedError, StepExecution, StepRef } from '../../core/run/events.ts';
import {
  type Completed,
  isSuspended,
  type RunState,
  stepIdOf,
  stepRefOf,
  undoMemoKey,
} from '../../core/run/state.ts';
import { messageOf } from '../../core/thrown.ts';
import type { TraceContext } from '../../core/trace.ts';
import type { RunJournal } from '../../journal/run-journal.ts';
import { pause } from '../../ports/clock.ts';
import { undoStep } from '../define/flow/flow-step.ts';
import type { BodyStep, Context, MapStep, StepDefinition, Workflow } from '../define/steps.ts';
import { deployedFor } from '../deployed.ts';
import type { EngineDeps } from '../deps.ts';
import type { AliveCalls } from '../effects/effect-call.ts';
import { Performer } from '../effects/performer.ts';
import { compensationStarted, refOf } from '../facts/drafts.ts';
import { type Output, recorded } from '../facts/output.ts';
import { tellEnd } from '../tracing/ends.ts';
import { undoSpan } from '../tracing/step-spans.ts';
import { policyFor } from './bodies/after-failure.ts';
import { type AttemptResult, runAttempt, StepAborted } from './bodies/attempt.ts';
import { BodyContext } from './bodies/body-context.ts';
import type { BodyReport } from './bodies/body-report.ts';
import { loadOutputs, StepOutputs } from './outputs.ts';
import { seenBy, type Unit } from './step-inputs.ts';

export interface Compensating {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  readonly input: unknown;
  readonly report: BodyReport;
  /** The run may have acted before the restore of this time; epoch ms. */
  readonly restoredAt?: number;
  /** The reason why the run ends, if no step of it failed. */
  readonly error: RecordedError | undefined;
  /** Aborted when the drive must let go. */
  readonly stop: AbortSignal;
}

/** `stopped`: the next drive continues with the rest. */
export async function compensate(params: Compensating): Promise<'done' | 'stopped'> {
  const { deps, journal, error, stop } = params;
  const { isCompensable } = deployedFor(deps.registry, journal.state);
  const due = (state: RunState) => compensationsDue(state, isCompensable);
  const { state } = await journal.append((current) => {
    const steps = due(current).map(({ step }) => step);
    if (steps.length === 0 || current.compensating) return [];
    return [compensationStarted(steps, error)];
  });
  for (const completed of due(state)) {
    if (isSuspended(journal.state)) return 'stopped';
    if (stop.aborted || (await undo(params, completed)) === 'stopped') return 'stopped';
  }
  return 'done';
}

async function undo(params: Compensating, completed: Completed): Promise<'done' | 'stopped'> {
  const { deps, journal, stop } = params;
  const { state } = journal;
  const { unit, seen, execution } = await undoable(params, completed);
  const step = unit.step as BodyStep;
  const ref = refOf(execution);
  const undoing = { ...params, state, completed, step, seen, execution, alive: new Map() };
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await undoOnce(undoing, attempt);
    if (outcome.kind === 'stopped') return 'stopped';
    const { settled } = outcome;
    if (outcome.kind === 'undone') {
      await journal.append(() => [...settled, { type: 'step_compensated', initiator: 'system', data: ref }]);
      return 'done';
    }
    const { error, cause } = outcome;
    const about = { runId: state.id, step: completed.step };
    const now = deps.clock.now();
    const next = nextRetry({
      policy: policyFor(step, cause, (thrown) =>
        deps.log.warn('retry_match_failed', { ...about, error: messageOf(thrown) }),
      ),
      attempt,
      random: deps.random.unit(),
      now,
      error: cause,
    });
    const thrown = deps.settings.logsThrown ? { message: error.message } : {};
    const { code } = error;
    deps.log.warn('compensation_failed', { ...about, attempt, code, ...thrown, next: next.kind });
    if (next.kind === 'give_up') return giveUp(journal, ref, { error, settled });
    if (settled.length > 0) await journal.append(() => settled);
    // The other compensations wait for this one, and they for nobody: short pauses only.
    await pause(deps.clock, Math.min(deps.settings.shortRetryMs, Math.max(0, next.at - now)));
    if (stop.aborted) return 'stopped';
  }
}

interface Undoing extends Compensating {
  /** As it was when the first attempt began. */
  readonly state: RunState;
  readonly completed: Completed;
  readonly step: BodyStep;
  readonly seen: Context;
  readonly execution: StepExecution;
  /** Calls that earlier attempts left behind. */
  readonly alive: AliveCalls;
}

/** Result of one attempt; `settled` is written to the journal with it. */
type Undone =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'undone'; readonly settled: readonly EventDraft[] }
  | {
      readonly kind: 'failed';
      readonly settled: readonly EventDraft[];
      readonly error: RecordedError;
      readonly cause: unknown;
    };

async function undoOnce(undoing: Undoing, attempt: number): Promise<Undone> {
  const { deps, state, step, stop, report, completed } = undoing;
  const execution = { ...undoing.execution, attempt };
  const abort = new AbortController();
  const onStop = () => abort.abort(stop.reason ?? new StepAborted('shutdown'));
  stop.addEventListener('abort', onStop, { once: true });
  const span = deps.tracer?.open(undoSpan(state, execution, state.epoch));
  const performer = performerOf(undoing, execution, { signal: abort.signal, trace: span?.context });
  const given = contextOf(undoing, execution, { signal: abort.signal, performer });
  const { id, timeoutMs, idempotent, compensate: body } = step;
  const attempted = {
    id,
    timeoutMs,
    idempotent,
    // The return value is ignored.
    body: async (seen: Context) => {
      await body?.(seen);
      return null;
    },
  };
  const { step: key, revision } = completed;
  report.begun({ step: key, revision, attempt, since: deps.clock.now(), undoes: true });
  const attempting = runAttempt({ step: attempted, context: given.context, abort, clock: deps.clock });
  const result: AttemptResult = await tellEnd(span, attempting, abort.signal);
  given.endText(result.kind === 'succeeded');
  report.ended(key);
  stop.removeEventListener('abort', onStop);
  // Nobody can be asked any more: a compensation that would have to be is one that failed.
  if (result.kind === 'unfinished' || result.kind === 'asks') return { kind: 'stopped' };
  // A call that ignores its signal may never answer: what became of it is in doubt then.
  await performer.quietWithin(2 * deps.settings.graceMs);
  await performer.flush();
  abort.abort(new StepAborted('timeout'));
  if (performer.isCut && result.kind === 'succeeded') return { kind: 'stopped' };
  const [open] = await performer.doubts();
  const settled = performer.takePending();
  if (result.kind === 'failed') return { kind: 'failed', settled, error: result.error, cause: result.cause };
  const { doubt = open && new Error(`the outcome of '${open.capabilityId}' is unknown`) } = performer;
  if (doubt === undefined) return { kind: 'undone', settled };
  return { kind: 'failed', settled, error: recorded(step.id, doubt), cause: doubt };
}

interface Attempting {
  readonly signal: AbortSignal;
  readonly trace: TraceContext | undefined;
}

function performerOf(
  { deps, journal, state, step, alive, restoredAt }: Undoing,
  execution: StepExecution,
  { signal, trace }: Attempting,
): Performer {
  const owner = state.lease?.owner;
  return new Performer({
    deps,
    state: () => journal.state,
    execution,
    uses: step.uses,
    undo: true,
    mayHaveRows: true,
    restoredAt,
    alive,
    body: signal,
    calls: signal,
    // Work that is still running when the drive has released the run, or the run has ended, is dropped.
    append: (decide) => journal.append((current) => (current.lease?.owner === owner ? decide(current) : [])),
    provedAt: () => journal.lastSnapshotAt,
    trace,
  });
}

function contextOf(
  { deps, state, seen, completed, report }: Undoing,
  execution: StepExecution,
  { signal, performer }: { readonly signal: AbortSignal; readonly performer: Performer },
): BodyContext {
  const { step, revision } = completed;
  const by = { step, revision, attempt: execution.attempt, undoes: true } as const;
  return new BodyContext({
    deps,
    runId: state.id,
    execution,
    seen,
    feedback: undefined,
    signal,
    progressText: undefined,
    memosOf: undoMemoKey(step),
    // An attempt before this one, or a drive before this one, may have left some.
    mayHaveMemos: true,
    performer,
    onHeartbeat: () => {},
    keepLine: report.log.of(by),
    text: report.log.textOf(by),
  });
}

async function giveUp(
  journal: RunJournal,
  ref: StepRef,
  { error, settled }: { readonly error: RecordedError; readonly settled: readonly EventDraft[] },
): Promise<'done'> {
  const failed = {
    type: 'compensation_failed' as const,
    initiator: 'system' as const,
    data: { ...ref, error },
  };
  await journal.append(() => [...settled, failed]);
  return 'done';
}

/** Arguments of a compensation: what its body saw, as far as it still exists, and its output. */
async function undoable(params: Compensating, { step: key, revision, seq }: Completed) {
  const { deps, journal, workflow, input } = params;
  const { state } = journal;
  const step = undoing(workflow.steps.get(stepIdOf(key)), stepRefOf(key, revision).itemKey);
  const outputs = new StepOutputs(workflow, [step.id], []);
  await outputs.load(deps.store, state);
  const [output] = await loadOutputs(deps.store, state.id, [seq]);
  const unit: Unit = key === step.id ? { step } : { step, item: itemOf() };
  const seen = { ...seenBy(unit, input, outputs), output: returned(output) };
  const execution: StepExecution = {
    stepId: step.id,
    ...(unit.item ? { itemKey: unit.item.key } : {}),
    revision,
    kind: step.kind,
    attempt: 1,
    inputsHash: '',
    startedAt: deps.clock.now(),
  };
  return { unit, seen, execution };

  function itemOf() {
    const itemKey = key.slice(step.id.length + 1, -1);
    const index = Number(itemKey);
    return { key: itemKey, index, value: step.kind === 'map' ? itemAt(step, index) : undefined };
  }

  /** Undefined where the list is not what it was: a step that was sent back may have taken along what it was made of. */
  function itemAt({ fanOut }: MapStep, index: number): unknown {
    try {
      const items = fanOut.over(seenBy({ step }, input, outputs));
      const change = listChange(state, { stepId: step.id, revision, items: markOf(items) });
      if (change !== undefined) throw new Error(change);
      return items[index];
    } catch (error) {
      deps.log.warn('compensation_without_item', { runId: state.id, step: key, error: messageOf(error) });
      return undefined;
    }
  }
}

/** The step, or for an operation of a flow a step that undoes it. */
function undoing(step: StepDefinition | undefined, itemKey = ''): BodyStep {
  return (step?.kind === 'flow' ? undoStep(step, itemKey) : step) as BodyStep;
}

function returned(output: Output | undefined): unknown {
  return output === undefined ? undefined : JSON.parse(output.text);
}
