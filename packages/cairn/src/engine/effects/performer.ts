/**
 * `perform` as the bodies of one attempt use it. Owns how its calls ended, and what must be known or asked before the attempt may
 * count as ended (E2). The ledger itself is in act.ts.
 *
 * Must not: record the end of the attempt, or open the question to a person.
 */
import { CairnError, Fatal, NotApplied } from '../../core/errors.ts';
import { optional } from '../../core/optional.ts';
import type { StepExecution } from '../../core/run/events.ts';
import { MAX_OPEN_EFFECTS } from '../../core/run/limits.ts';
import { type OpenEffect, openEffectsOf, type RunState } from '../../core/run/state.ts';
import { readableThrown, reasonOf } from '../../core/thrown.ts';
import type { Decide } from '../../journal/batch.ts';
import type { Appended } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { errorTypeOf, type Span, type SpanOptions } from '../../ports/tracing.ts';
import { type Binding, type Capability, leavesRows } from '../define/capability.ts';
import type { EngineDeps } from '../deps.ts';
import { refOf } from '../recording/event-builders.ts';
import { traced } from '../tracing/calls.ts';
import { effectOutcome } from '../tracing/ends.ts';
import { callSpan, effectSpan, type Performed } from '../tracing/step-spans.ts';
import { abortOf, act } from './act.ts';
import { AttemptCalls } from './attempt-calls.ts';
import { judgeOf } from './call-policy.ts';
import { type ActEnd, type Ask, type PerformCall, retryable } from './effect-call.ts';
import { fenced } from './fence.ts';
import { PendingEvents } from './pending-events.ts';
import { assertDeclared, type CheckedRequest, checkedRequest, responseOf } from './rows.ts';

interface PerformerParams
  extends Pick<
    PerformCall,
    'undo' | 'mayAsk' | 'refusedBy' | 'mayHaveRows' | 'restoredAt' | 'alive' | 'trace'
  > {
  readonly deps: EngineDeps;
  readonly state: () => RunState;
  readonly execution: StepExecution;
  readonly uses: readonly Capability[];
  readonly body: AbortSignal;
  /** Signal of running calls, which get time to respond when the body is stopped. */
  readonly calls: AbortSignal;
  /** Appends nothing after the dispatch has released the run. */
  readonly append: (decide: Decide) => Promise<Appended>;
  /** Time of the dispatch's last heartbeat, epoch ms. */
  readonly provedAt: () => number;
}

interface PerformOptions {
  readonly key?: string;
}

export class Performer {
  /** Events that are not in the journal yet. */
  readonly pending: PendingEvents;
  readonly #params: PerformerParams;
  readonly #calls = new AttemptCalls();
  readonly #running = new Set<Promise<unknown>>();
  readonly #decisionNeeded = Promise.withResolvers<Ask>();
  #doubt: unknown;
  #isCut = false;
  #question: Ask | undefined;

  constructor(params: PerformerParams) {
    this.#params = params;
    this.pending = new PendingEvents(params.append);
  }

  /** Resolves when the attempt cannot continue without a decision; never, if none is required. */
  get decisionNeeded(): Promise<Ask> {
    return this.#decisionNeeded.promise;
  }

  /** The question to ask, even if the body ended without awaiting the call. */
  get question(): Ask | undefined {
    return this.#question;
  }

  /** Handles the rejection even if the body does not await the call: an unhandled one could end the process and the other runs in it. */
  perform(capability: Capability, given: unknown, options: PerformOptions = {}): Promise<unknown> {
    const performed = this.#perform(capability, given, options);
    performed.catch((error: unknown) => this.#reportRefusal(error));
    return performed;
  }

  async #perform(capability: Capability, value: unknown, { key }: PerformOptions): Promise<unknown> {
    const { uses, execution, body } = this.#params;
    const { stepId } = execution;
    assertDeclared(uses, capability, stepId);
    const request = checkedRequest(capability, value);
    if (body.aborted) {
      this.#isCut = true;
      throw body.reason;
    }
    if (!leavesRows(capability)) return this.#read(capability, request);
    this.#assertRoom();
    const given = { capabilityId: capability.id, key, requestHash: request.hash, stepId };
    return this.#calls.call(given, async (call) =>
      responseOf(capability, await this.#act(capability, request, call)),
    );
  }

  /** Does not apply to compensations, which must always be able to act. @throws CairnError RUN_TOO_LARGE */
  #assertRoom(): void {
    const { state, execution, undo } = this.#params;
    const { length } = state().effects;
    if (undo || length < MAX_OPEN_EFFECTS) return;
    const what = `the run has ${length} effects with an unknown outcome; the maximum is ${MAX_OPEN_EFFECTS}`;
    throw new CairnError('RUN_TOO_LARGE', what, { stepId: execution.stepId });
  }

  /** Logs a refused call, which is an error of the body. The ledger or the end of the attempt records everything else. */
  #reportRefusal(error: unknown): void {
    const isRefusal = error instanceof Fatal || (error instanceof CairnError && error.httpStatus < 500);
    if (!isRefusal) return;
    const { deps, state, execution } = this.#params;
    const { stepId, attempt } = execution;
    deps.log.warn('perform_refused', { runId: state().id, stepId, attempt, error: error.message });
  }

  /** Resolves once no call is running, at the latest after this many ms, because a call that ignores its signal may never return. */
  async quietWithin(ms: number): Promise<void> {
    const patience = Promise.withResolvers<void>();
    const cancel = this.#params.deps.clock.timer(ms, () => patience.resolve());
    await Promise.race([this.#quiet(), patience.promise]);
    cancel();
  }

  async #quiet(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  get isQuiet(): boolean {
    return this.#running.size === 0;
  }

  /** The reason why an effect of this dispatch is in doubt; undefined: none is. */
  get doubt(): unknown {
    return this.#doubt;
  }

  /**
   * True if a call was refused because the body was aborted. Then the body's work is incomplete however it ends: it may
   * have caught the error, or not awaited the call.
   */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * Effects of this execution with an unknown outcome: it cannot succeed before they are resolved. The journal may lag
   * behind the ledger if a crash came between the two.
   */
  async doubts(): Promise<readonly OpenEffect[]> {
    const { deps, state, execution } = this.#params;
    const open = openEffectsOf(state(), execution).filter(({ effectId }) => !this.pending.hasEnd(effectId));
    const rows = await Promise.all(
      open.map(({ effectId }) => sendUntilKnown(deps, () => deps.effects.read(effectId))),
    );
    return open.filter((effect, i) => {
      const status = rows[i]?.record.status;
      if (status !== 'recorded' && status !== 'failed') return true;
      const { effectId, capabilityId } = effect;
      const hash = optional('responseHash', rows[i]?.record.responseHash);
      const data = { ...refOf(execution), effectId, capabilityId, outcome: status, ...hash };
      this.pending.note([{ type: 'effect_settled', initiator: 'system', data }]);
      return false;
    });
  }

  /** Makes a call without side effects (a read, or a pure function), which leaves no ledger row. */
  async #read(capability: Capability, { value }: CheckedRequest): Promise<unknown> {
    const { deps, calls } = this.#params;
    const binding = deps.bindings.of(capability);
    const idempotencyKey = deps.random.token();
    try {
      const response = await traced(deps.tracer, this.#callSpan(capability, binding), (more) =>
        binding.call(value, { idempotencyKey, signal: calls, ...more }),
      );
      return responseOf(capability, JSON.stringify(response ?? null));
    } catch (thrown) {
      const cause = readableThrown(thrown);
      throw cause instanceof NotApplied ? retryable(cause) : cause;
    }
  }

  #callSpan(capability: Capability, binding: Binding): SpanOptions {
    return callSpan('call', this.#performed(capability), { binding });
  }

  #performed(capability: Capability): Performed {
    const { state, execution, trace } = this.#params;
    return { runId: state().id, execution, capability, parent: trace };
  }

  async #act(capability: Capability, request: CheckedRequest, call: string | number): Promise<string> {
    const { deps, state, execution, undo, body, calls, provedAt } = this.#params;
    const { mayAsk, refusedBy, mayHaveRows, restoredAt, alive } = this.#params;
    const caller = { state: state(), execution, capability, binding: deps.bindings.of(capability) };
    const span = deps.tracer?.open(effectSpan(this.#performed(capability)));
    const acting = act({
      deps,
      caller,
      request,
      call,
      undo,
      mayAsk,
      refusedBy,
      judge: undo ? undefined : judgeOf(deps.callPolicy, { ...caller, state: state(), request }),
      mayHaveRows,
      restoredAt,
      alive,
      signal: calls,
      append: (decide) => fenced(deps, () => this.pending.append(decide), provedAt),
      note: (settled) => this.pending.note(settled),
      trace: span?.context,
    });
    this.#running.add(acting);
    let end: ActEnd;
    try {
      end = await acting;
    } catch (cause) {
      span?.end(errorTypeOf(cause));
      this.#doubt ??= cause;
      throw cause;
    } finally {
      this.#running.delete(acting);
    }
    this.#report(capability, end, span);
    if ('settled' in end) this.pending.note(end.settled);
    switch (end.kind) {
      case 'answered':
        return end.text;
      case 'not_applied':
        throw retryable(end.cause);
      case 'doubt':
        this.#doubt ??= end.cause;
        throw inDoubt(capability, execution, end.cause);
      case 'mismatch':
      case 'denied':
        throw end.cause;
      case 'ask':
        if (undo) {
          const unavailable = new Fatal(inDoubt(capability, execution, undefined).message);
          this.#doubt ??= unavailable;
          throw unavailable;
        }
        this.#question ??= end.ask;
        this.#decisionNeeded.resolve(end.ask);
        // An abandoned body must not continue, so this promise never settles.
        return new Promise(() => {});
      case 'stopped':
        if (calls.aborted && !body.aborted) {
          // The body ended before the call was made. Another attempt makes it.
          this.#doubt ??= new Error(`'${capability.id}' was not called in time`);
          throw this.#doubt;
        }
        this.#isCut = true;
        return aborted(body);
    }
  }

  #report({ id: capabilityId }: Capability, end: ActEnd, span: Span | undefined): void {
    const outcome = effectOutcome(end);
    span?.set({ 'cairn.effect.outcome': outcome ?? 'stopped' });
    span?.end(end.kind === 'doubt' || end.kind === 'not_applied' ? errorTypeOf(end.cause) : undefined);
    const { deps, state } = this.#params;
    if (outcome) deps.metrics.effect({ tenantId: state().tenantId, capabilityId, outcome });
  }
}

/** Retryable: another attempt can determine the outcome. */
function inDoubt({ id }: Capability, { stepId }: StepExecution, cause: unknown): Error {
  const why = cause instanceof Error ? `: ${reasonOf(cause)}` : '';
  return Object.assign(new Error(`step '${stepId}': the outcome of '${id}' is unknown${why}`, { cause }), {
    code: 'EFFECT_IN_DOUBT',
  });
}

/** Rejects when the body is asked to stop, because its worker lost the run or the step is no longer needed. */
async function aborted(body: AbortSignal): Promise<never> {
  await abortOf(body);
  throw body.reason;
}
