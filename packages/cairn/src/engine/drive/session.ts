/**
 * Executes one claimed run as far as possible, then closes or releases it: decides when, and passes the cause (a
 * cancel, the clock, a shutdown, steps sent back) to running work.
 *
 * Must not: know how a step is started or recorded (stepping.ts), or how steps are compensated (compensate.ts).
 */

import { type Conclusion, conclude } from '../../core/decisions/conclude.ts';
import { secretTexts } from '../../core/logs/secrets.ts';
import { isSuspended, type RunState } from '../../core/run/state.ts';
import { needsPayload } from '../../core/run/values.ts';
import { LeaseLost, type RunJournal } from '../../journal/run-journal.ts';
import type { CancelTimer } from '../../ports/clock.ts';
import type { StepDefinition, Workflow } from '../define/steps.ts';
import type { EngineDeps } from '../deps.ts';
import { NO_OUTPUT } from '../facts/output.ts';
import { mayGoOn } from '../gate.ts';
import { askPolicy, passedOver } from '../policy.ts';
import { StepAborted } from './bodies/attempt.ts';
import type { Beats } from './bodies/beats.ts';
import { type Closing, closingDraft, resultOf } from './closing.ts';
import { compensate } from './compensate.ts';
import { Scope } from './scope.ts';
import { Stepping } from './stepping.ts';
import { keepVitalSigns } from './vital-signs.ts';

export type SessionEnd =
  | { readonly kind: 'closed' }
  /** `dueAt` (epoch ms) is when the next drive has work; absent: immediately. */
  | { readonly kind: 'released'; readonly dueAt?: number }
  /** `dueAt` absent: an answer is required. */
  | { readonly kind: 'suspended'; readonly dueAt?: number }
  | { readonly kind: 'lease_lost' };

export interface SessionParams {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Workflow;
  /** The run's input, parsed and frozen. */
  readonly input: unknown;
  /** Epoch ms by which the drive must have let go. */
  readonly budgetEndsAt: number;
  readonly beats: Beats;
  /** Time in ms that the run has rested because its policy could not be asked; absent: none. */
  readonly restedMs?: number;
  /** The run is a suspect: one body at a time, and each leaves a trace before it begins. */
  readonly alone: boolean;
  /** The run may have acted before the restore of this time; epoch ms. */
  readonly restoredAt?: number;
}

/**
 * A policy that could not be asked is asked again after this, and after twice as long each time: every time costs a claim and
 * a release, and a policy that is down for days must not fill the journal.
 */
const POLICY_RETRY_FIRST_MS = 30_000;
const POLICY_RETRY_CAP_MS = 3_600_000;

type Stop = 'cancel' | 'budget' | 'shutdown' | 'renewal' | 'held' | 'cleared';

export class DriveSession {
  readonly #deps: EngineDeps;
  readonly #params: SessionParams;
  readonly #scope: Scope;
  readonly #steps: Stepping;
  readonly #timers = new Set<CancelTimer>();
  readonly #end = Promise.withResolvers<SessionEnd>();
  /** Aborts running compensations. */
  readonly #letGo = new AbortController();
  #stop: Stop | undefined;
  /**
   * True after the state left by earlier drives was adopted: before that, a waiting run looks like one with nothing
   * left to do.
   */
  #begun = false;
  #over = false;
  /** Number of events of other writers that were taken into account. */
  #adopted: number;
  #feedbackSeq: number;
  #gateAskedAt: number;
  /** Asked with every step, and looked up in all steps of the workflow: once. */
  readonly #canCompensate: boolean;
  readonly #canWaitOut: boolean;

  constructor(params: SessionParams) {
    const { deps, journal, workflow, input, budgetEndsAt, beats, alone, restoredAt } = params;
    beats.log.begin(journal.state.epoch, secretTexts(input, workflow.secretInput));
    this.#params = params;
    this.#deps = deps;
    // It may fail before anybody waits for the end.
    this.#end.promise.catch(() => {});
    this.#adopted = journal.foreignEvents;
    this.#feedbackSeq = newestFeedback(journal.state);
    this.#gateAskedAt = deps.clock.now();
    this.#canCompensate = canCompensate(params.workflow);
    this.#canWaitOut = canWaitOut(params.workflow);
    this.#scope = new Scope({ ...params, onFailure: (error) => this.#fail(error) });
    this.#steps = new Stepping({
      scope: this.#scope,
      alone,
      restoredAt,
      beats,
      budgetEndsAt,
      onChange: () => this.#advance(),
      onSettling: () => this.#concludeIfDone(),
      isStopped: () => this.#over || this.#stop !== undefined,
    });
  }

  /** Resolves when this drive has nothing more to do with the run. Rejects if the outcome of a commit stayed unknown. */
  async run(): Promise<SessionEnd> {
    const end = await this.#run();
    if (end.kind === 'lease_lost') await this.#steps.leaveClosed();
    return end;
  }

  async #run(): Promise<SessionEnd> {
    const { clock, shutdown, settings, store } = this.#deps;
    const { journal, beats } = this.#params;
    const endVitalSigns = keepVitalSigns({
      journal,
      clock,
      settings,
      busy: () => this.#steps.bodies > 0,
      showAt: () => beats.dueAt,
      onNews: () => this.#onNews(),
      onFailure: (error) => this.#fail(error),
    });
    const onShutdown = () => this.#halt('shutdown');
    shutdown.addEventListener('abort', onShutdown, { once: true });
    try {
      await this.#scope.outputs.load(store, journal.state);
      this.#watchTime();
      if (shutdown.aborted) this.#halt('shutdown');
      if (!this.#over && (await this.#isAllowed())) {
        this.#begun = true;
        this.#steps.resume();
        this.#advance();
      }
      return await this.#end.promise;
    } catch (error) {
      // Before it has begun, that is: later the end has heard of it.
      if (error instanceof LeaseLost) return { kind: 'lease_lost' };
      throw error;
    } finally {
      this.#over = true;
      endVitalSigns();
      shutdown.removeEventListener('abort', onShutdown);
      for (const cancel of this.#timers) cancel();
      await this.#steps.end();
    }
  }

  #watchTime(): void {
    const { journal, budgetEndsAt } = this.#params;
    const now = this.#deps.clock.now();
    const { deadlineAt } = journal.state;
    this.#after(budgetEndsAt - now, () => this.#halt('budget'));
    if (deadlineAt === undefined || deadlineAt > budgetEndsAt) return;
    if (deadlineAt <= now) this.#timeOut(deadlineAt);
    else this.#after(deadlineAt - now, () => this.#timeOut(deadlineAt));
  }

  /** Asks the policy of the workflow, where the run has begun to move since it was last asked. */
  async #isAllowed(): Promise<boolean> {
    const { journal, workflow, input } = this.#params;
    const { state } = journal;
    if (!workflow.policy || !state.policyDue || state.cancellation || state.error) return true;
    const at = state.policySnapshotId === undefined ? 'start' : 'resume';
    if (at === 'start' && state.source?.forcedBy !== undefined) {
      await this.#scope.appendHeld(() => passedOver(state.source?.forcedBy));
      return true;
    }
    const answer = await askPolicy(this.#deps, workflow.policy, { state, input, at });
    if (answer) {
      await this.#scope.appendHeld(() => answer.drafts);
      return true;
    }
    if (this.#over) return false;
    const { restedMs = 0 } = this.#params;
    const restMs = Math.min(POLICY_RETRY_CAP_MS, Math.max(POLICY_RETRY_FIRST_MS, 2 * restedMs));
    const dueAt = this.#deps.clock.now() + restMs;
    const release: Closing = { kind: 'release', reason: 'retry', dueAt };
    const facts = { workflow, result: NO_OUTPUT, inFlight: [] };
    const { events } = await this.#scope.appendHeld((current) =>
      current.cancellation ? [] : [closingDraft(release, current, facts)],
    );
    // Cancelled meanwhile: nothing is left that a policy would have to allow.
    if (events.length === 0) return true;
    this.#over = true;
    this.#end.resolve(endOf(release));
    return false;
  }

  /** Starts what may start, and ends the drive if nothing is left to wait for. */
  #advance(): void {
    if (!this.#begun || this.#over) return;
    const { journal, alone } = this.#params;
    // A commit whose answer was lost can be found in the journal of a run that another has taken over since.
    if (!this.#scope.isHeld) {
      this.#fail(new LeaseLost(`run ${journal.state.id} was taken over by another worker`));
      return;
    }
    this.#adopt();
    if (journal.state.cancellation) this.#halt('cancel');
    else if (journal.state.suspension) this.#stop ??= 'held';
    if (alone && !journal.state.suspect?.alone) this.#stop ??= 'cleared';
    this.#steps.startReady();
    this.#concludeIfDone();
  }

  /** Takes into account what others appended: answers to waits, and steps that were sent back. */
  #adopt(): void {
    const { journal } = this.#params;
    if (journal.foreignEvents === this.#adopted) return;
    this.#adopted = journal.foreignEvents;
    if (newestFeedback(journal.state) > this.#feedbackSeq) this.#renew(journal.state);
    this.#steps.adopt(journal.state);
  }

  /** Steps were sent back: bodies of theirs are given up, the others end, and the next drive begins from there. */
  #renew({ feedback }: RunState): void {
    const news = feedback.filter(({ seq }) => seq > this.#feedbackSeq);
    const back = new Set(news.flatMap(({ steps }) => steps));
    this.#feedbackSeq = Math.max(...news.map(({ seq }) => seq));
    this.#steps.abort('superseded', (stepId) => back.has(stepId));
    this.#stop ??= 'renewal';
  }

  #onNews(): void {
    const { clock, settings } = this.#deps;
    const now = clock.now();
    // A clock that was set back says nothing of how long ago that was.
    if (now < this.#gateAskedAt || now - this.#gateAskedAt >= settings.heartbeatMs) {
      this.#gateAskedAt = now;
      this.#scope.guard(this.#askGate());
    }
    this.#advance();
  }

  /**
   * Operators may have paused the workflow since the drive began: then nothing more is started, and the next drive is put
   * aside. What has begun may end: they asked for nothing new, not for steps whose outcome is in doubt.
   */
  async #askGate(): Promise<void> {
    if (await mayGoOn(this.#deps, this.#params.journal.state)) return;
    this.#letGo.abort(new StepAborted('budget'));
    this.#stop ??= 'held';
    this.#concludeIfDone();
  }

  /** Starts nothing more; tells running steps to stop, and leaves behind those that do not within the grace. */
  #halt(why: 'cancel' | 'budget' | 'shutdown'): void {
    if (why !== 'cancel') this.#letGo.abort(new StepAborted(why));
    if (this.#over || this.#stop === why || this.#stop === 'cancel') return;
    this.#stop = why;
    this.#stopBodies(why);
  }

  /** The time limit of the run has passed: it fails, whatever is running. */
  #timeOut(deadlineAt: number): void {
    if (this.#over || this.#steps.failure) return;
    const { createdAt, startedAt = createdAt } = this.#params.journal.state;
    const message = `the run did not end within ${deadlineAt - startedAt} ms`;
    this.#steps.fail({ code: 'RUN_TIMEOUT', message, retryable: false });
    this.#stopBodies('timeout');
  }

  #stopBodies(why: StepAborted['why']): void {
    this.#steps.abort(why);
    this.#after(this.#deps.settings.graceMs, () => {
      this.#steps.leave();
      this.#concludeIfDone();
    });
    this.#concludeIfDone();
  }

  #concludeIfDone(): void {
    const { journal } = this.#params;
    // The failure is on its way here: what could not be appended looks as if nothing were left to do.
    if (!this.#begun || this.#over || journal.hasFailed) return;
    const facts = this.#steps.facts();
    const conclusion = conclude({
      ...facts,
      undoes: this.#canCompensate,
      childrenOpen: this.#steps.childrenOpen || (facts.unacknowledged > 0 && this.#canWaitOut),
      ...(this.#stop === 'cancel'
        ? { stop: undefined, cancellation: journal.state.cancellation }
        : { stop: this.#stop, cancellation: undefined }),
    });
    if (conclusion.kind === 'wait') return;
    this.#over = true;
    this.#scope.guard(this.#carryOut(conclusion));
  }

  /** Decided on the newest state: if others have appended meanwhile, the conclusion is recomputed. */
  async #carryOut(conclusion: Exclude<Conclusion, { kind: 'wait' }>): Promise<void> {
    const { journal, workflow } = this.#params;
    if (conclusion.kind === 'end_children') {
      await this.#steps.endChildren();
      if (!this.#steps.childrenOpen) return this.#concludeAnew();
    }
    const closing = conclusion.kind === 'undo_first' ? await this.#undo(conclusion) : conclusion;
    let result = closing.kind === 'completed' ? resultOf(workflow, this.#scope.outputs) : NO_OUTPUT;
    if ('code' in result) {
      this.#steps.fail(result);
      return this.#concludeAnew();
    }
    if (needsPayload(result.text)) result = await this.#scope.kept(result);
    const facts = { workflow, result, inFlight: this.#steps.inFlight() };
    const { events } = await journal.append((state) =>
      journal.foreignEvents === this.#adopted ? [closingDraft(closing, state, facts)] : [],
    );
    if (events.length > 0) return this.#end.resolve(endOf(closing));
    this.#concludeAnew();
  }

  #concludeAnew(): void {
    this.#over = false;
    this.#advance();
  }

  /** The end that follows, or a release: the drive had to let go before all was undone. */
  async #undo({ end }: Extract<Conclusion, { kind: 'undo_first' }>): Promise<Closing> {
    const error = end.kind === 'failed' ? end.error : undefined;
    this.#scope.outputs.releaseResult();
    const undone = await compensate({ ...this.#params, error, stop: this.#letGo.signal });
    if (undone === 'done') return end;
    if (isSuspended(this.#params.journal.state)) return { kind: 'release', reason: 'held' };
    return { kind: 'release', reason: this.#stop === 'shutdown' ? 'shutdown' : 'budget' };
  }

  #fail(error: unknown): void {
    this.#over = true;
    this.#steps.abort('lease_lost');
    this.#letGo.abort(new StepAborted('lease_lost'));
    if (error instanceof LeaseLost) this.#end.resolve({ kind: 'lease_lost' });
    else this.#end.reject(error);
  }

  #after(delayMs: number, fire: () => void): void {
    const cancel = this.#deps.clock.timer(delayMs, () => {
      this.#timers.delete(cancel);
      fire();
    });
    this.#timers.add(cancel);
  }
}

function newestFeedback({ feedback }: RunState): number {
  return feedback.reduce((newest, { seq }) => Math.max(newest, seq), 0);
}

function canCompensate({ steps }: Workflow): boolean {
  return [...steps.values()].some((step) => isUndone(step));
}

function isUndone(step: StepDefinition): boolean {
  if (step.kind === 'flow') return Object.keys(step.undo).length > 0;
  return 'compensate' in step && step.compensate !== undefined;
}

function canWaitOut({ steps }: Workflow): boolean {
  return [...steps.values()].some(
    (step) => (step.kind === 'child' && step.onParentEnd === 'wait') || step.kind === 'flow',
  );
}

function endOf(closing: Closing): SessionEnd {
  switch (closing.kind) {
    case 'end_children':
      return { kind: 'suspended' };
    case 'suspend':
      return { kind: 'suspended', ...(closing.until === undefined ? {} : { dueAt: closing.until }) };
    case 'release':
      return { kind: 'released', ...(closing.dueAt === undefined ? {} : { dueAt: closing.dueAt }) };
    default:
      return { kind: 'closed' };
  }
}
