/**
 * One attempt of a body, or of the compensation of a step: its context, its effect calls, and its result after these have
 * ended.
 *
 * Must not: record anything of the execution, or decide the next step.
 */
import { RetryAt } from '../../../core/errors.ts';
import type { EventDraft, RecordedError, StepExecution } from '../../../core/run/events.ts';
import { cut, TRACE_CHARS } from '../../../core/run/records.ts';
import { feedbackFor, type OpenEffect, undoMemoKey } from '../../../core/run/state.ts';
import type { Mask } from '../../../core/secrets/mask.ts';
import { reasonOf } from '../../../core/thrown.ts';
import type { Decide } from '../../../journal/batch.ts';
import type { Appended } from '../../../journal/run-journal.ts';
import type { Span } from '../../../ports/tracing.ts';
import type { Context } from '../../define/steps.ts';
import type { AliveCalls, PerformCall } from '../../effects/effect-call.ts';
import { Performer } from '../../effects/performer.ts';
import { recordedError, type Used } from '../../recording/output.ts';
import { stepSpan, undoSpan } from '../../tracing/step-spans.ts';
import type { LeasedRun } from '../dispatch-state.ts';
import { type BodyUnit, keyOf } from '../step-inputs.ts';
import { BodyContext } from './body-context.ts';
import { type Attempted, type AttemptResult, callBody, StepAborted } from './call-body.ts';

export interface BodyAttemptParams extends Pick<LeasedRun, 'deps' | 'journal' | 'report' | 'restoredAt'> {
  readonly unit: BodyUnit;
  readonly execution: StepExecution;
  readonly seen: Context;
  /** Calls of earlier attempts that have not ended. */
  readonly alive: AliveCalls;
  /** Appends nothing once the dispatch must not record anything more. */
  readonly append: (decide: Decide) => Promise<Appended>;
  /** True for a compensation, which asks no question and has no budget. */
  readonly undoes?: true;
  readonly refusedBy?: PerformCall['refusedBy'];
}

export class BodyAttempt {
  readonly abort = new AbortController();
  readonly span: Span | undefined;
  readonly #params: BodyAttemptParams;
  /** Stops its calls: those of a compensation at once, those of a body after a grace period. */
  readonly #calls: AbortController;
  readonly #body: BodyContext;
  #madePerformer: Performer | undefined;
  #beat = () => {};

  constructor(params: BodyAttemptParams) {
    const { deps, journal, report, unit, execution, seen, undoes } = params;
    const { state } = journal;
    const { revision, attempt, location } = execution;
    const step = keyOf(unit);
    this.#params = params;
    this.#calls = undoes ? this.abort : new AbortController();
    this.span = deps.tracer?.open((undoes ? undoSpan : stepSpan)(state, execution, state.epoch));
    const by = { step, revision, attempt, undoes };
    report.begun({ ...by, since: deps.clock.now(), location });
    const mayHaveMemos = undoes === true || attempt > 1 || state.epoch > 1;
    this.#body = new BodyContext({
      deps,
      runId: state.id,
      execution,
      seen,
      feedback: undoes ? undefined : feedbackFor(state, unit.step.id),
      signal: this.abort.signal,
      progressText: undoes ? undefined : report.lastOf(step),
      mayHaveMemos,
      ...(undoes && { memosOf: undoMemoKey(step) }),
      perform: (...call) => this.#performer.perform(...call),
      keepLine: report.log.of(by),
      text: report.log.textOf(by),
      onHeartbeat: (detailsText) => {
        this.#beat();
        if (detailsText === undefined || undoes) return;
        report.note({ step, detailsText, at: deps.clock.now() });
      },
    });
  }

  get context(): Context {
    return this.#body.context;
  }

  get used(): Used {
    return this.#body.used;
  }

  /** Calls the body, and resolves when its calls have ended as well. */
  async run(step: Attempted): Promise<AttemptResult> {
    const { clock, tracer, mask, admitBody } = this.#params.deps;
    const admitted = admitBody?.(`${this.#params.journal.state.type} ${step.id}`);
    if (admitted) {
      await admitted;
      if (this.abort.signal.aborted) return { kind: 'unfinished' };
    }
    const mayCall = this.#params.unit.step.uses.length > 0;
    const endCalls = mayCall ? this.#giveCallsTime() : undefined;
    const attempt = () =>
      callBody({
        step,
        context: this.context,
        abort: this.abort,
        clock,
        mask,
        onBeat: (beat) => {
          this.#beat = beat;
        },
        decisionNeeded: mayCall ? this.#performer.decisionNeeded : undefined,
      });
    const ended = await (this.span && tracer ? tracer.within(this.span.context, attempt) : attempt());
    this.#beat = () => {};
    const result = await this.#withDoubts(ended);
    endCalls?.();
    return result;
  }

  /** Returns its events that are not in the journal, to be appended with its end. */
  async end({ kind }: AttemptResult): Promise<readonly EventDraft[]> {
    const pending = this.#madePerformer?.pending;
    await pending?.flush();
    this.#body.endText(kind === 'succeeded');
    return pending?.take() ?? [];
  }

  /** Gives running calls time to get their responses after the body was asked to stop, so that fewer effects are in doubt. */
  #giveCallsTime(): () => void {
    const { clock, settings } = this.#params.deps;
    const { signal } = this.abort;
    let cancel = () => {};
    const onAbort = () => {
      const { reason } = signal;
      const delayMs = reason instanceof StepAborted && reason.why === 'timeout' ? 0 : settings.graceMs;
      cancel = clock.timer(delayMs, () => this.#calls.abort(reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return () => {
      signal.removeEventListener('abort', onAbort);
      cancel();
    };
  }

  /**
   * An attempt has not ended while one of its calls may still act, and has not succeeded if the outcome of one is
   * unknown (E2).
   */
  async #withDoubts(returned: AttemptResult): Promise<AttemptResult> {
    const { deps, unit, append, undoes } = this.#params;
    const { id, uses } = unit.step;
    // The next dispatch repeats a stopped compensation.
    if (uses.length === 0 || (undoes && returned.kind === 'unfinished')) return returned;
    const { clock, settings } = deps;
    const performer = this.#performer;
    const cancel = clock.timer(settings.graceMs, () => this.#calls.abort(new StepAborted('timeout')));
    await performer.quietWithin(2 * settings.graceMs);
    cancel();
    const { isQuiet } = performer;
    const left = returned.kind === 'succeeded' ? whatItLeft(performer, this.abort.signal) : undefined;
    const ended = left ?? returned;
    if (ended.kind === 'unfinished') {
      // Records the known outcomes of its calls, so that the next dispatch resolves only the unknown ones.
      await performer.pending.flush();
      const settled = performer.pending.take();
      if (settled.length > 0) await append(() => settled);
      return ended;
    }
    const open = await performer.doubts();
    const reason = ended.kind === 'failed' ? ended.cause : isQuiet ? undefined : unanswered(id);
    const cause = performer.doubt ?? reason;
    // A compensation asks nothing.
    if (open.length === 0 || undoes) return withoutQuestion(id, ended, { cause, open, mask: deps.mask });
    // The answer to a question about a repetition may fail the step: by then all its calls must be recorded.
    if (ended.kind === 'asks' && ended.ask.why === 'doubt') return ended;
    return inDoubt(id, open, { cause, mask: deps.mask });
  }

  /** Made at its first use, because most bodies make no calls. */
  get #performer(): Performer {
    this.#madePerformer ??= this.#performerOf();
    return this.#madePerformer;
  }

  #performerOf(): Performer {
    const { deps, journal, unit, execution, restoredAt, alive, append, undoes, refusedBy } = this.#params;
    const { epoch, effectScopes, source } = journal.state;
    const isFirst =
      execution.attempt === 1 && epoch === 1 && source === undefined && effectScopes === undefined;
    return new Performer({
      deps,
      state: () => journal.state,
      execution,
      uses: unit.step.uses,
      undo: undoes ?? false,
      // A body that must not run twice is not stopped in the middle.
      mayAsk: !undoes && unit.step.idempotent,
      refusedBy,
      mayHaveRows: undoes || !isFirst,
      restoredAt,
      alive,
      trace: this.span?.context,
      body: this.abort.signal,
      calls: this.#calls.signal,
      append,
      provedAt: () => journal.lastSnapshotAt,
    });
  }
}

/** Effect calls that a returned body did not await, or whose errors it caught. */
function whatItLeft(
  { isCut, question }: Performer,
  { aborted, reason }: AbortSignal,
): AttemptResult | undefined {
  const wasStopped = aborted && !(reason instanceof StepAborted && reason.why === 'asked');
  // The question stopped all other calls of the body.
  if (question && !wasStopped) return { kind: 'asks', ask: question };
  return question || isCut ? { kind: 'unfinished' } : undefined;
}

/** An attempt that succeeded fails if the outcome of a call is unknown. The effect may have its row in another run of the lineage. */
function withoutQuestion(
  stepId: string,
  ended: AttemptResult,
  { cause, open: [first], mask }: DoubtDetails & { readonly open: readonly OpenEffect[] },
): AttemptResult {
  const why = cause ?? (first && new Error(`the outcome of '${first.capabilityId}' is unknown`));
  if (ended.kind !== 'succeeded' || why === undefined) return ended;
  return { kind: 'failed', cause: why, error: recordedError(stepId, why, mask) };
}

function unanswered(stepId: string): Error {
  return new Error(`step '${stepId}' ended before its effect calls were answered`);
}

interface DoubtDetails {
  readonly cause: unknown;
  readonly mask: Mask | undefined;
}

function inDoubt(
  stepId: string,
  doubts: readonly OpenEffect[],
  { cause, mask = (text) => text }: DoubtDetails,
): AttemptResult {
  const names = doubts.map(({ capabilityId }) => `'${capabilityId}'`).join(', ');
  const why = cause instanceof Error ? `: ${reasonOf(cause)}` : '';
  const message = cut(mask(`the outcome of ${names} is unknown${why}`), TRACE_CHARS);
  const error: RecordedError = { code: 'EFFECT_IN_DOUBT', message, stepId, retryable: true };
  const isLater = cause instanceof RetryAt;
  const thrown = isLater ? new RetryAt(cause.at, message, { cause }) : new Error(message, { cause });
  return { kind: 'failed', cause: thrown, error, doubts };
}
