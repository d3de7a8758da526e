/**
 * The loop of a dispatch: takes one message after the other from its queue, lets `next/` decide what follows, starts what may
 * start then, and closes or releases the run when it has nothing left to wait for. A message that is posted while another is
 * handled waits for its turn.
 *
 * Must not: know how a step is started or recorded (next/), or how steps are compensated (compensate.ts).
 */

import type { SessionEnd } from '../../core/decisions/after-end.ts';
import { type DispatchDecision, type DispatchStop, dispatchDecision } from '../../core/decisions/dispatch.ts';
import { backoffBoundMs, DEFAULT_RETRY } from '../../core/decisions/retry.ts';
import { durationText } from '../../core/duration.ts';
import { isSuspended, type RunState } from '../../core/run/state.ts';
import { needsPayload } from '../../core/run/values.ts';
import { LeaseLost } from '../../journal/run-journal.ts';
import type { CancelTimer } from '../../ports/clock.ts';
import { mayContinue } from '../admission.ts';
import { NO_OUTPUT } from '../recording/output.ts';
import { StepAborted } from './bodies/call-body.ts';
import { withoutSecrets } from './bodies/masking.ts';
import { carryOut, storeOutput } from './carry-out.ts';
import {
  type ClosingDecision,
  canCompensate,
  canWaitOut,
  closingDraft,
  type EndAfterUndo,
  isAsDecided,
  releaseDecision,
  resultOf,
  sessionEndOf,
} from './closing.ts';
import { compensate, type UndoEnd } from './compensate.ts';
import { DispatchState, type LeasedRun } from './dispatch-state.ts';
import { keepHeartbeats } from './heartbeats.ts';
import { type DispatchMessage, type Message, MOVED } from './messages.ts';
import { resume, startReady } from './next/begin.ts';
import { type Follows, next } from './next/next.ts';
import { applyForeignChanges } from './next/waits.ts';
import { policyAnswer } from './policy-answer.ts';
import { Announcer } from './waiting/announcer.ts';

export class DriveSession {
  readonly #dispatch: DispatchState;
  readonly #announcer: Announcer;
  readonly #messages: Message[] = [];
  readonly #timers = new Set<CancelTimer>();
  readonly #end = Promise.withResolvers<SessionEnd>();
  /** Aborts running compensations. */
  readonly #abandoned = new AbortController();
  #stop: 'cancel' | DispatchStop | undefined;
  #isHandling = false;
  /**
   * `beginning`: the state of earlier dispatches is not adopted yet, so a waiting run would look finished. `closing`: the end is being
   * recorded, or decided again.
   */
  #phase: 'beginning' | 'working' | 'closing' | 'over' = 'beginning';
  /** Number of events of other writers that were taken into account. */
  #adopted: number;
  #feedbackSeq: number;
  #admissionAskedAt: number;
  /** Computed once, because every step asks for it and the answer searches all steps of the workflow. */
  readonly #canCompensate: boolean;
  readonly #canWaitOut: boolean;

  constructor(given: LeasedRun) {
    const run = withoutSecrets(given);
    const { deps, journal, workflow } = run;
    // The promise may reject before a caller awaits it.
    this.#end.promise.catch(() => {});
    this.#adopted = journal.foreignEvents;
    this.#feedbackSeq = newestFeedback(journal.state);
    this.#admissionAskedAt = deps.clock.now();
    this.#canCompensate = canCompensate(workflow);
    this.#canWaitOut = canWaitOut(workflow);
    this.#dispatch = new DispatchState(run, {
      post: (message) => this.#post(message),
      carryOut: (command) => carryOut(this.#dispatch, this.#announcer, command),
      onFailure: (error) => this.#fail(error),
      isStopped: () => !this.#isOpen || this.#stop !== undefined,
    });
    this.#announcer = new Announcer(this.#dispatch);
  }

  /** Resolves when this dispatch has nothing more to do with the run. Rejects if the outcome of a commit stayed unknown. */
  async run(): Promise<SessionEnd> {
    const end = await this.#run();
    // Another process holds the run, so this one removes registrations of closed waits.
    if (end.kind === 'lease_lost') await this.#announcer.leaveClosed();
    return end;
  }

  async #run(): Promise<SessionEnd> {
    const dispatch = this.#dispatch;
    const { deps, journal, report } = dispatch.run;
    const { shutdown } = deps;
    const endHeartbeats = keepHeartbeats(deps, journal, {
      busy: () => dispatch.bodies.size > 0,
      showAt: () => report.dueAt,
      onRefreshed: () => this.#post({ kind: 'refreshed' }),
      onFailure: (error) => this.#fail(error),
    });
    const onShutdown = () => this.#post({ kind: 'halt', why: 'shutdown' });
    shutdown.addEventListener('abort', onShutdown, { once: true });
    try {
      await dispatch.outputs.load(deps.store, journal.state);
      this.#watchTime();
      if (shutdown.aborted) onShutdown();
      if (this.#isOpen && (await this.#isAllowed())) this.#begin();
      return await this.#end.promise;
    } catch (error) {
      // This handles only errors before `#begin`; later `#end` rejects or resolves with the error.
      if (error instanceof LeaseLost) return { kind: 'lease_lost' };
      throw error;
    } finally {
      this.#phase = 'over';
      endHeartbeats();
      shutdown.removeEventListener('abort', onShutdown);
      for (const cancel of this.#timers) cancel();
      dispatch.resting.end();
      for (const flow of dispatch.flows.values()) flow.drop();
      await this.#announcer.quiet();
      await dispatch.budget.close();
    }
  }

  get #isOpen(): boolean {
    return this.#phase === 'beginning' || this.#phase === 'working';
  }

  /** Adopts the state of earlier dispatches, unless the dispatch has failed meanwhile. */
  #begin(): void {
    if (this.#phase !== 'beginning') return;
    this.#phase = 'working';
    resume(this.#dispatch);
    this.#post(MOVED);
  }

  #post(message: Message): void {
    this.#messages.push(message);
    if (message.kind !== 'recorded') {
      this.#handleMessages();
      return;
    }
    // All events of one commit are handled before more steps begin.
    if (this.#messages.length === 1) queueMicrotask(() => this.#handleMessages());
  }

  #handleMessages(): void {
    if (this.#isHandling) return;
    this.#isHandling = true;
    try {
      let mayEnd = false;
      while (this.#messages.length > 0) {
        let mayBegin = false;
        for (const message of this.#messages.splice(0)) {
          const follows = this.#handle(message);
          mayBegin ||= follows === 'begin';
          mayEnd ||= follows !== 'nothing';
        }
        if (mayBegin) this.#advance();
      }
      if (mayEnd) this.#endIfDone();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isHandling = false;
    }
  }

  #handle(message: Message): Follows {
    switch (message.kind) {
      case 'refreshed':
        this.#onRefreshed();
        return 'begin';
      case 'paused':
        // A pause forbids new steps. Running ones may end: an abort would leave their outcome in doubt.
        this.#abandoned.abort(new StepAborted('budget'));
        this.#stop ??= 'paused';
        return 'end';
      case 'halt':
        this.#halt(message.why);
        return 'end';
      case 'timed_out':
        this.#timeOut(message.deadlineAt);
        return 'end';
      case 'grace_over':
        this.#dispatch.bodies.leave();
        return 'end';
      default:
        return next(this.#dispatch, message);
    }
  }

  #watchTime(): void {
    const { run, now } = this.#dispatch;
    const { deadlineAt } = run.journal.state;
    this.#after(run.budgetEndsAt - now, { kind: 'halt', why: 'budget' });
    if (deadlineAt === undefined || deadlineAt > run.budgetEndsAt) return;
    const timedOut = { kind: 'timed_out', deadlineAt } as const;
    if (deadlineAt <= now) this.#post(timedOut);
    else this.#after(deadlineAt - now, timedOut);
  }

  /** Evaluates the policy of the workflow if it is due. False: the run is over, because the policy forbids it. */
  async #isAllowed(): Promise<boolean> {
    const dispatch = this.#dispatch;
    const answer = await policyAnswer(dispatch, this.#abandoned.signal);
    if (!answer) return true;
    if (answer.kind === 'answered') {
      await dispatch.appendLeased(() => answer.drafts);
      return true;
    }
    if (!this.#isOpen) return false;
    const facts = { workflow: dispatch.workflow, result: NO_OUTPUT, inFlight: [] };
    const { events } = await dispatch.appendLeased((current) =>
      current.cancellation ? [] : [closingDraft(answer, current, facts)],
    );
    // The run was cancelled meanwhile, so the policy no longer matters.
    if (events.length === 0) return true;
    this.#phase = 'over';
    this.#end.resolve(sessionEndOf(answer));
    return false;
  }

  /** Applies the newest state of the run, and starts the steps that may start. */
  #advance(): void {
    if (this.#phase !== 'working') return;
    const { journal, alone } = this.#dispatch.run;
    // The writer may learn of its own lost commit from a journal that another process has taken over.
    if (!this.#dispatch.hasLease) {
      this.#fail(new LeaseLost(`run ${journal.state.id} was taken over by another worker`));
      return;
    }
    this.#adopt();
    if (journal.state.cancellation) this.#halt('cancel');
    else if (journal.state.suspension) this.#stop ??= 'paused';
    if (alone && !journal.state.suspect?.alone) this.#stop ??= 'cleared';
    startReady(this.#dispatch);
  }

  /** Takes into account what others appended: answers to waits, and steps that were sent back. */
  #adopt(): void {
    const { journal } = this.#dispatch;
    if (journal.foreignEvents === this.#adopted) return;
    this.#adopted = journal.foreignEvents;
    if (newestFeedback(journal.state) > this.#feedbackSeq) this.#renew(journal.state);
    applyForeignChanges(this.#dispatch, journal.state);
  }

  /**
   * Handles steps that were sent back: their bodies are aborted, the others may end, and the next dispatch starts the new
   * revisions.
   */
  #renew({ feedback }: RunState): void {
    const news = feedback.filter(({ seq }) => seq > this.#feedbackSeq);
    const back = new Set(news.flatMap(({ steps }) => steps));
    this.#feedbackSeq = Math.max(...news.map(({ seq }) => seq));
    this.#dispatch.bodies.abort('superseded', (stepId) => back.has(stepId));
    this.#stop ??= 'renewal';
  }

  #onRefreshed(): void {
    const { deps, now } = this.#dispatch;
    // If the clock was set back, the time since the last check is unknown: check again.
    if (now >= this.#admissionAskedAt && now - this.#admissionAskedAt < deps.settings.heartbeatMs) return;
    this.#admissionAskedAt = now;
    this.#dispatch.guard(this.#checkPauses());
  }

  /** Stops the dispatch if operators have paused the workflow since it began. */
  async #checkPauses(): Promise<void> {
    const { deps, journal } = this.#dispatch;
    if (!(await mayContinue(deps, journal.state))) this.#post({ kind: 'paused' });
  }

  /**
   * Stops the dispatch, e.g. after a cancel: starts no step, aborts running ones, and abandons those that do not end in time. If the
   * end is being recorded, the stop counts if it is decided again.
   */
  #halt(why: 'cancel' | 'budget' | 'shutdown'): void {
    if (why !== 'cancel') this.#abandoned.abort(new StepAborted(why));
    if (this.#phase === 'over' || this.#stop === why || this.#stop === 'cancel') return;
    this.#stop = why;
    this.#stopBodies(why);
  }

  /** Fails the run when its time limit has passed, whatever is running, unless another end is recorded first. */
  #timeOut(deadlineAt: number): void {
    if (this.#phase === 'over' || this.#dispatch.failure) return;
    const { createdAt, startedAt = createdAt } = this.#dispatch.journal.state;
    const message = `the run did not end within ${durationText(deadlineAt - startedAt)}`;
    this.#dispatch.failure = { code: 'RUN_TIMEOUT', message, retryable: false };
    this.#stopBodies('timeout');
  }

  #stopBodies(why: StepAborted['why']): void {
    this.#dispatch.bodies.abort(why);
    this.#after(this.#dispatch.deps.settings.graceMs, { kind: 'grace_over' });
  }

  #endIfDone(): void {
    const { journal } = this.#dispatch;
    // The journal reports its failure later. Without the events that it could not append, the run would look finished.
    if (this.#phase !== 'working' || journal.hasFailed) return;
    const progress = this.#dispatch.progress();
    const decision = dispatchDecision({
      ...progress,
      undoes: this.#canCompensate,
      childrenOpen: this.#childrenOpen || (progress.unacknowledged > 0 && this.#canWaitOut),
      ...(this.#stop === 'cancel'
        ? { stop: undefined, cancellation: journal.state.cancellation }
        : { stop: this.#stop, cancellation: undefined }),
    });
    if (decision.kind === 'wait') return;
    this.#phase = 'closing';
    this.#dispatch.guard(this.#close(decision));
  }

  /** Records the end, as decided on the newest state: if other writers have appended meanwhile, the decision is made again. */
  async #close(decision: Exclude<DispatchDecision, { kind: 'wait' }>): Promise<void> {
    const { journal, workflow } = this.#dispatch;
    if (decision.kind === 'end_children') {
      await this.#announcer.endChildren();
      if (!this.#childrenOpen) return this.#decideAgain();
    }
    const closing = decision.kind === 'undo_first' ? await this.#undo(decision) : decision;
    let result = closing.kind === 'completed' ? resultOf(workflow, this.#dispatch.outputs) : NO_OUTPUT;
    if ('code' in result) {
      this.#dispatch.failure ??= result;
      return this.#decideAgain();
    }
    if (needsPayload(result.text)) result = await storeOutput(this.#dispatch, result);
    const facts = { workflow, result, inFlight: this.#dispatch.bodies.inFlight() };
    // A delay that a receiver has requested stays valid whatever others have appended, except a cancellation.
    const rests = decision.kind === 'undo_first' && closing.kind === 'release' && closing.dueAt !== undefined;
    const { events } = await journal.append((state) =>
      journal.foreignEvents === this.#adopted || (rests && isAsDecided(state, decision.end))
        ? [closingDraft(closing, state, facts)]
        : [],
    );
    if (events.length > 0) return this.#end.resolve(sessionEndOf(closing));
    this.#decideAgain();
  }

  #decideAgain(): void {
    if (this.#phase !== 'closing') return;
    this.#phase = 'working';
    this.#post(MOVED);
  }

  /** True while the run waits for the end of a child. */
  get #childrenOpen(): boolean {
    return this.#dispatch.waits.childrenOf(this.#dispatch.journal.state).length > 0;
  }

  /** Undoes the run and returns the end that follows, or a release if not everything could be undone in this dispatch. */
  async #undo({ end }: { readonly end: EndAfterUndo }): Promise<ClosingDecision> {
    const error = end.kind === 'failed' ? end.error : undefined;
    this.#dispatch.outputs.releaseResult();
    const undone = await compensate(this.#dispatch.run, { error, stop: this.#abandoned.signal });
    if (undone.kind === 'done') return end;
    if (undone.kind === 'later') return this.#resting(undone);
    if (isSuspended(this.#dispatch.journal.state)) return releaseDecision('paused', undone.error);
    // After a cancel, only this signal shows another stop.
    const { reason } = this.#abandoned.signal;
    const isShutdown = reason instanceof StepAborted && reason.why === 'shutdown';
    return releaseDecision(isShutdown ? 'shutdown' : 'budget', undone.error);
  }

  /** The intervals grow, so that a receiver that always names a near time is called less and less often. */
  #resting({ at, error }: Extract<UndoEnd, { kind: 'later' }>): ClosingDecision {
    const { deps, journal } = this.#dispatch;
    const leastMs = backoffBoundMs(DEFAULT_RETRY, (journal.state.failures?.times ?? 0) + 1);
    return { ...releaseDecision('retry', error), dueAt: Math.max(at, deps.clock.now() + leastMs) };
  }

  #fail(error: unknown): void {
    this.#phase = 'over';
    this.#dispatch.bodies.abort('lease_lost');
    this.#dispatch.bodies.failed(error);
    this.#abandoned.abort(new StepAborted('lease_lost'));
    if (error instanceof LeaseLost) this.#end.resolve({ kind: 'lease_lost' });
    else this.#end.reject(error);
  }

  #after(delayMs: number, message: DispatchMessage): void {
    const cancel = this.#dispatch.deps.clock.timer(delayMs, () => {
      this.#timers.delete(cancel);
      this.#post(message);
    });
    this.#timers.add(cancel);
  }
}

function newestFeedback({ feedback }: RunState): number {
  return feedback.reduce((newest, { seq }) => Math.max(newest, seq), 0);
}
