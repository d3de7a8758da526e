/**
 * The loop of a dispatch: takes one message after the other from its queue, has `next/` decide what follows from it, starts what
 * may start then, and closes or releases the run when nothing is left to wait for. Messages that are posted while one is handled
 * wait for their turn; no message is handled in the middle of another.
 *
 * Must not: know how a step is started or recorded (next/), or how steps are compensated (compensate.ts).
 */

import type { SessionEnd } from '../../core/decisions/after-end.ts';
import { conclude, type DispatchDecision, type DriveStop } from '../../core/decisions/conclude.ts';
import { isSuspended, type RunState } from '../../core/run/state.ts';
import { needsPayload } from '../../core/run/values.ts';
import { LeaseLost } from '../../journal/run-journal.ts';
import type { CancelTimer } from '../../ports/clock.ts';
import { NO_OUTPUT } from '../facts/output.ts';
import { mayContinue } from '../gate.ts';
import { StepAborted } from './bodies/call-body.ts';
import { withoutSecrets } from './bodies/masking.ts';
import { carryOut, storeOutput } from './carry-out.ts';
import {
  type ClosingDecision,
  canCompensate,
  canWaitOut,
  closingDraft,
  resultOf,
  sessionEndOf,
} from './closing.ts';
import { compensate } from './compensate.ts';
import { keepHeartbeats } from './heartbeats.ts';
import { type DriveMessage, type Message, MOVED } from './messages.ts';
import { resume, startReady } from './next/begin.ts';
import { type Follows, next } from './next/next.ts';
import { applyForeignChanges } from './next/waits.ts';
import { policyAnswer } from './policy-answer.ts';
import { Announcer } from './waiting/announcer.ts';
import { type HeldRun, Working } from './working.ts';

export class DriveSession {
  readonly #working: Working;
  readonly #announcer: Announcer;
  readonly #messages: Message[] = [];
  readonly #timers = new Set<CancelTimer>();
  readonly #end = Promise.withResolvers<SessionEnd>();
  /** Aborts running compensations. */
  readonly #abandoned = new AbortController();
  #stop: 'cancel' | DriveStop | undefined;
  #isHandling = false;
  /**
   * `beginning`: the state of earlier dispatches is not adopted; a waiting run looks like one with nothing left to do. `closing`: its end
   * is decided and being recorded, or is decided anew.
   */
  #phase: 'beginning' | 'working' | 'closing' | 'over' = 'beginning';
  /** Number of events of other writers that were taken into account. */
  #adopted: number;
  #feedbackSeq: number;
  #gateAskedAt: number;
  /** Asked with every step, and looked up in all steps of the workflow: once. */
  readonly #canCompensate: boolean;
  readonly #canWaitOut: boolean;

  constructor(given: HeldRun) {
    const run = withoutSecrets(given);
    const { deps, journal, workflow } = run;
    // It may fail before a caller awaits the end.
    this.#end.promise.catch(() => {});
    this.#adopted = journal.foreignEvents;
    this.#feedbackSeq = newestFeedback(journal.state);
    this.#gateAskedAt = deps.clock.now();
    this.#canCompensate = canCompensate(workflow);
    this.#canWaitOut = canWaitOut(workflow);
    this.#working = new Working({
      ...run,
      post: (message) => this.#post(message),
      carryOut: (command) => carryOut(this.#working, this.#announcer, command),
      onFailure: (error) => this.#fail(error),
      isStopped: () => !this.#isOpen || this.#stop !== undefined,
    });
    this.#announcer = new Announcer(this.#working);
  }

  /** Resolves when this dispatch has nothing more to do with the run. Rejects if the outcome of a commit stayed unknown. */
  async run(): Promise<SessionEnd> {
    const end = await this.#run();
    // Another process holds the run: registrations of closed waits are removed.
    if (end.kind === 'lease_lost') await this.#announcer.leaveClosed();
    return end;
  }

  async #run(): Promise<SessionEnd> {
    const working = this.#working;
    const { deps, journal, report } = working;
    const { shutdown } = deps;
    const endHeartbeats = keepHeartbeats(deps, journal, {
      busy: () => working.bodies.size > 0,
      showAt: () => report.dueAt,
      onNews: () => this.#post({ kind: 'news' }),
      onFailure: (error) => this.#fail(error),
    });
    const onShutdown = () => this.#post({ kind: 'halt', why: 'shutdown' });
    shutdown.addEventListener('abort', onShutdown, { once: true });
    try {
      await working.outputs.load(deps.store, journal.state);
      this.#watchTime();
      if (shutdown.aborted) onShutdown();
      if (this.#isOpen && (await this.#isAllowed())) this.#begin();
      return await this.#end.promise;
    } catch (error) {
      // Before the begin only: later the end has adopted it.
      if (error instanceof LeaseLost) return { kind: 'lease_lost' };
      throw error;
    } finally {
      this.#phase = 'over';
      endHeartbeats();
      shutdown.removeEventListener('abort', onShutdown);
      for (const cancel of this.#timers) cancel();
      working.resting.end();
      for (const flow of working.flows.values()) flow.drop();
      await this.#announcer.quiet();
      await working.budget.close();
    }
  }

  get #isOpen(): boolean {
    return this.#phase === 'beginning' || this.#phase === 'working';
  }

  /** Adopts the state of earlier dispatches, unless the dispatch has failed meanwhile. */
  #begin(): void {
    if (this.#phase !== 'beginning') return;
    this.#phase = 'working';
    resume(this.#working);
    this.#post(MOVED);
  }

  #post(message: Message): void {
    this.#messages.push(message);
    if (message.kind !== 'recorded') {
      this.#empty();
      return;
    }
    // All that one commit has recorded is known before more begins.
    if (this.#messages.length === 1) queueMicrotask(() => this.#empty());
  }

  /** Handles the queued messages. */
  #empty(): void {
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
      if (mayEnd) this.#concludeIfDone();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isHandling = false;
    }
  }

  #handle(message: Message): Follows {
    switch (message.kind) {
      case 'news':
        this.#onNews();
        return 'begin';
      case 'paused':
        // Operators asked for nothing new, not for steps whose outcome is in doubt: those that have begun may end.
        this.#abandoned.abort(new StepAborted('budget'));
        this.#stop ??= 'held';
        return 'end';
      case 'halt':
        this.#halt(message.why);
        return 'end';
      case 'timed_out':
        this.#timeOut(message.deadlineAt);
        return 'end';
      case 'grace_over':
        this.#working.bodies.leave();
        return 'end';
      default:
        return next(this.#working, message);
    }
  }

  #watchTime(): void {
    const { journal, budgetEndsAt, now } = this.#working;
    const { deadlineAt } = journal.state;
    this.#after(budgetEndsAt - now, { kind: 'halt', why: 'budget' });
    if (deadlineAt === undefined || deadlineAt > budgetEndsAt) return;
    const timedOut = { kind: 'timed_out', deadlineAt } as const;
    if (deadlineAt <= now) this.#post(timedOut);
    else this.#after(deadlineAt - now, timedOut);
  }

  /** Evaluates the policy of the workflow if it is due. False: the run is over, because the policy forbids it. */
  async #isAllowed(): Promise<boolean> {
    const working = this.#working;
    const answer = await policyAnswer(working, this.#abandoned.signal);
    if (!answer) return true;
    if (answer.kind === 'answered') {
      await working.appendHeld(() => answer.drafts);
      return true;
    }
    if (!this.#isOpen) return false;
    const facts = { workflow: working.workflow, result: NO_OUTPUT, inFlight: [] };
    const { events } = await working.appendHeld((current) =>
      current.cancellation ? [] : [closingDraft(answer, current, facts)],
    );
    // Cancelled meanwhile: a policy has nothing left to allow.
    if (events.length === 0) return true;
    this.#phase = 'over';
    this.#end.resolve(sessionEndOf(answer));
    return false;
  }

  /** Applies the newest state of the run, and starts the steps that may start. */
  #advance(): void {
    if (this.#phase !== 'working') return;
    const { journal, alone } = this.#working;
    // A commit whose answer was lost can be found in the journal of a run that another has taken over since.
    if (!this.#working.isHeld) {
      this.#fail(new LeaseLost(`run ${journal.state.id} was taken over by another worker`));
      return;
    }
    this.#adopt();
    if (journal.state.cancellation) this.#halt('cancel');
    else if (journal.state.suspension) this.#stop ??= 'held';
    if (alone && !journal.state.suspect?.alone) this.#stop ??= 'cleared';
    startReady(this.#working);
  }

  /** Takes into account what others appended: answers to waits, and steps that were sent back. */
  #adopt(): void {
    const { journal } = this.#working;
    if (journal.foreignEvents === this.#adopted) return;
    this.#adopted = journal.foreignEvents;
    if (newestFeedback(journal.state) > this.#feedbackSeq) this.#renew(journal.state);
    applyForeignChanges(this.#working, journal.state);
  }

  /** Steps were sent back: their bodies are aborted, the others may end, and the next dispatch starts the new revisions. */
  #renew({ feedback }: RunState): void {
    const news = feedback.filter(({ seq }) => seq > this.#feedbackSeq);
    const back = new Set(news.flatMap(({ steps }) => steps));
    this.#feedbackSeq = Math.max(...news.map(({ seq }) => seq));
    this.#working.bodies.abort('superseded', (stepId) => back.has(stepId));
    this.#stop ??= 'renewal';
  }

  #onNews(): void {
    const { deps, now } = this.#working;
    // If the clock was set back, the time since the last check is unknown: check again.
    if (now >= this.#gateAskedAt && now - this.#gateAskedAt < deps.settings.heartbeatMs) return;
    this.#gateAskedAt = now;
    this.#working.guard(this.#checkPauses());
  }

  /** Stops the dispatch if operators have paused the workflow since it began. */
  async #checkPauses(): Promise<void> {
    const { deps, journal } = this.#working;
    if (!(await mayContinue(deps, journal.state))) this.#post({ kind: 'paused' });
  }

  /** Stops the dispatch, e.g. after a cancel: starts no step, aborts running ones, and abandons those that do not end in time. */
  #halt(why: 'cancel' | 'budget' | 'shutdown'): void {
    if (why !== 'cancel') this.#abandoned.abort(new StepAborted(why));
    if (!this.#isOpen || this.#stop === why || this.#stop === 'cancel') return;
    this.#stop = why;
    this.#stopBodies(why);
  }

  /** The time limit of the run has passed: it fails, whatever is running. */
  #timeOut(deadlineAt: number): void {
    if (!this.#isOpen || this.#working.failure) return;
    const { createdAt, startedAt = createdAt } = this.#working.journal.state;
    const message = `the run did not end within ${deadlineAt - startedAt} ms`;
    this.#working.failure = { code: 'RUN_TIMEOUT', message, retryable: false };
    this.#stopBodies('timeout');
  }

  #stopBodies(why: StepAborted['why']): void {
    this.#working.bodies.abort(why);
    this.#after(this.#working.deps.settings.graceMs, { kind: 'grace_over' });
  }

  #concludeIfDone(): void {
    const { journal } = this.#working;
    // The failure of the journal arrives later: without the events that it could not append, the run seems to have nothing left to
    // do.
    if (this.#phase !== 'working' || journal.hasFailed) return;
    const facts = this.#working.facts();
    const conclusion = conclude({
      ...facts,
      undoes: this.#canCompensate,
      childrenOpen: this.#childrenOpen || (facts.unacknowledged > 0 && this.#canWaitOut),
      ...(this.#stop === 'cancel'
        ? { stop: undefined, cancellation: journal.state.cancellation }
        : { stop: this.#stop, cancellation: undefined }),
    });
    if (conclusion.kind === 'wait') return;
    this.#phase = 'closing';
    this.#working.guard(this.#close(conclusion));
  }

  /** Decided on the newest state: if others have appended meanwhile, the decision is made again. */
  async #close(conclusion: Exclude<DispatchDecision, { kind: 'wait' }>): Promise<void> {
    const { journal, workflow } = this.#working;
    if (conclusion.kind === 'end_children') {
      await this.#announcer.endChildren();
      if (!this.#childrenOpen) return this.#concludeAnew();
    }
    const closing = conclusion.kind === 'undo_first' ? await this.#undo(conclusion) : conclusion;
    let result = closing.kind === 'completed' ? resultOf(workflow, this.#working.outputs) : NO_OUTPUT;
    if ('code' in result) {
      this.#working.failure ??= result;
      return this.#concludeAnew();
    }
    if (needsPayload(result.text)) result = await storeOutput(this.#working, result);
    const facts = { workflow, result, inFlight: this.#working.bodies.inFlight() };
    const { events } = await journal.append((state) =>
      journal.foreignEvents === this.#adopted ? [closingDraft(closing, state, facts)] : [],
    );
    if (events.length > 0) return this.#end.resolve(sessionEndOf(closing));
    this.#concludeAnew();
  }

  #concludeAnew(): void {
    if (this.#phase !== 'closing') return;
    this.#phase = 'working';
    this.#post(MOVED);
  }

  /** A child that the run waits out has not ended. */
  get #childrenOpen(): boolean {
    return this.#working.waits.childrenOf(this.#working.journal.state).length > 0;
  }

  /** The end that follows, or a release: the drive had to release the run before all was undone. */
  async #undo({ end }: Extract<DispatchDecision, { kind: 'undo_first' }>): Promise<ClosingDecision> {
    const error = end.kind === 'failed' ? end.error : undefined;
    this.#working.outputs.releaseResult();
    const undone = await compensate(this.#working, { error, stop: this.#abandoned.signal });
    if (undone === 'done') return end;
    if (isSuspended(this.#working.journal.state)) return { kind: 'release', reason: 'held' };
    return { kind: 'release', reason: this.#stop === 'shutdown' ? 'shutdown' : 'budget' };
  }

  #fail(error: unknown): void {
    this.#phase = 'over';
    this.#working.bodies.abort('lease_lost');
    this.#working.bodies.failed(error);
    this.#abandoned.abort(new StepAborted('lease_lost'));
    if (error instanceof LeaseLost) this.#end.resolve({ kind: 'lease_lost' });
    else this.#end.reject(error);
  }

  #after(delayMs: number, message: DriveMessage): void {
    const cancel = this.#working.deps.clock.timer(delayMs, () => {
      this.#timers.delete(cancel);
      this.#post(message);
    });
    this.#timers.add(cancel);
  }
}

function newestFeedback({ feedback }: RunState): number {
  return feedback.reduce((newest, { seq }) => Math.max(newest, seq), 0);
}
