/**
 * Announces open waits (registers them at mailboxes, starts children), with idempotent repetitions. A run is not suspended
 * before all its waits are announced.
 */
import { CairnError } from '../../../core/errors.ts';
import type { BufferedEvent } from '../../../core/mailbox/mailbox.ts';
import type { ChildWait, EventWait, RecordedError, Wait } from '../../../core/run/events.ts';
import { hasReceived, stepKey } from '../../../core/run/state.ts';
import { readableThrown } from '../../../core/thrown.ts';
import { OutcomeUnknown } from '../../../ports/store-errors.ts';
import type { ChildStep, EventStep } from '../../define/steps.ts';
import { isPlanMissing } from '../../definition-of-run.ts';
import { eachReadable } from '../../each-readable.ts';
import { joinMailbox } from '../../mailbox/join.ts';
import { type LeaveRequest, leaveMailbox } from '../../mailbox/leave.ts';
import { isOfOtherRun } from '../../other-run.ts';
import { recordedError } from '../../recording/output.ts';
import { runExists } from '../../run-exists.ts';
import { orEnd } from '../../unwritable.ts';
import { answerDrafts, refusalDrafts } from '../../waits/end-of-wait.ts';
import type { DispatchState } from '../dispatch-state.ts';
import type { Announcement } from '../messages.ts';
import { acceptable } from '../next/waits.ts';

/** A shared reason, because an abort without one creates an exception with a stack for each run. */
const RUN_ENDS = 'the run ends or rests';
/**
 * Time for which a wait competes for its mailbox, in ms. The dispatch sends heartbeats meanwhile. At one write a second, a
 * minute suffices for as many processes as the queue has dispatches.
 */
const JOIN_PATIENCE_MS = 60_000;
const ANNOUNCED: Announcement = { kind: 'announced' };

export class Announcer {
  readonly #dispatch: DispatchState;
  /** Openings and registrations of waits that are under way. */
  readonly #pending = new Set<Promise<unknown>>();
  /** Aborts when the dispatch must not compete for a mailbox any longer. */
  readonly #closing = new AbortController();
  /** Mailboxes that this dispatch joined for the run. */
  readonly #joined: LeaveRequest[] = [];

  constructor(dispatch: DispatchState) {
    this.#dispatch = dispatch;
  }

  /** Registers work that {@link quiet} waits for. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    const done = () => void this.#pending.delete(work);
    work.then(done, done);
    return work;
  }

  /** Resolves once no announcement is in progress: a wait must not be registered after the run's end. */
  async quiet(): Promise<void> {
    this.#closing.abort(RUN_ENDS);
    while (this.#pending.size > 0) {
      await Promise.allSettled(this.#pending);
      // A wait that has just been opened is announced when its message is handled.
      await undefined;
    }
  }

  async announce(wait: Wait): Promise<Announcement> {
    try {
      if (wait.kind === 'event') return await this.#join(wait);
      return wait.kind === 'child' ? await this.#startChild(wait) : ANNOUNCED;
    } catch (error) {
      // Other steps continue meanwhile, and a later dispatch announces the wait again.
      if (error instanceof OutcomeUnknown || isOfOtherRun(error)) return { kind: 'lost', error };
      throw error;
    }
  }

  async #join(wait: EventWait): Promise<Announcement> {
    const { deps, journal } = this.#dispatch;
    const step = this.#dispatch.unitOf(stepKey(wait.execution)).step as EventStep;
    const { id: runId, tenantId } = journal.state;
    const place = { tenantId, event: wait.name, key: wait.key, runId, waitId: wait.id };
    let buffered: BufferedEvent | undefined;
    try {
      // The mailbox may still have an event that already answered an earlier wait of this run, if its sender died before it
      // updated the mailbox.
      const accepts = ({ eventId, dataText }: BufferedEvent) =>
        !hasReceived(journal.state, eventId) && acceptable(step, dataText) !== undefined;
      const patience = { ms: JOIN_PATIENCE_MS, signal: this.#closing.signal };
      this.#joined.push(place);
      const join = () => joinMailbox({ ...deps, patience }, { ...place, accepts });
      buffered = await join();
      if (buffered && !accepts(buffered)) {
        // A dispatch that died had taken this event, which the step then accepted. The wait is not listed while the event is held.
        await leaveMailbox(deps, place, (eventId) => hasReceived(journal.state, eventId));
        buffered = await join();
      }
    } catch (error) {
      // The mailbox has no room for another wait, and waiting for room would delay the whole run. If the store does not answer,
      // another dispatch tries again.
      if (!(error instanceof CairnError) || error.httpStatus >= 500) throw error;
      return this.#refused(wait, error);
    }
    const output = buffered && acceptable(step, buffered.dataText);
    if (!buffered || !output) return ANNOUNCED;
    const { eventId: signalId, actor } = buffered;
    const initiator = actor === undefined ? 'system' : 'user';
    const end = { step, wait, now: deps.clock.now() };
    return { kind: 'ended', events: answerDrafts(end, { initiator, actor, signalId }, output), place };
  }

  async #startChild(wait: ChildWait): Promise<Announcement> {
    const dispatch = this.#dispatch;
    const { deps, journal } = dispatch;
    const unit = dispatch.unitOf(stepKey(wait.execution));
    const { workflow: type, input } = unit.step as ChildStep;
    try {
      await deps.otherRuns.startChild({
        parent: journal.state,
        wait,
        type,
        input: input(dispatch.seenBy(unit)),
        cancelFormer: (runId) => this.#cancelChild(runId),
      });
      return ANNOUNCED;
    } catch (thrown) {
      // The schema of the child's workflow may throw anything.
      const error = readableThrown(thrown);
      // Another dispatch retries after a failure of the store.
      if (error instanceof CairnError && error.httpStatus >= 500) throw error;
      // An earlier dispatch started the child, with a definition or an input that have changed since.
      if (await runExists(deps, wait.child.runId)) return ANNOUNCED;
      // An unreadable document of the source, or a child of it that cannot be cancelled, says nothing about this child.
      if (isOfOtherRun(thrown)) throw thrown;
      // If the child's workflow is not deployed, another deployment can correct that. An invalid child fails the step.
      return error instanceof CairnError && isPlanMissing(error)
        ? {
            kind: 'not_deployed',
            error: { ...this.#recorded(wait, error), retryable: true, trace: undefined },
          }
        : this.#refused(wait, error);
    }
  }

  #refused(wait: Wait, error: unknown): Announcement {
    const { step } = this.#dispatch.unitOf(stepKey(wait.execution));
    const { now } = this.#dispatch;
    const why = this.#recorded(wait, error);
    return { kind: 'ended', events: refusalDrafts({ step, wait, now }, { initiator: 'system' }, why) };
  }

  #recorded({ execution }: Wait, error: unknown): RecordedError {
    return recordedError(execution.stepId, error, this.#dispatch.deps.mask);
  }

  /** Call after an event was taken out of the mailbox: marks it delivered, or buffers it again if the wait was over. */
  async leave(place: LeaveRequest): Promise<void> {
    const { deps, journal } = this.#dispatch;
    // The end of the run removes its registration as well.
    await this.#orWarn(() => leaveMailbox(deps, place, (eventId) => hasReceived(journal.state, eventId)));
  }

  /**
   * A slow registration can arrive after the next dispatch has closed the wait. This removes its entry, which otherwise stays
   * until the next event arrives there. Entries of open waits belong to the other dispatch as well.
   */
  async leaveClosed(): Promise<void> {
    const { deps, runId } = this.#dispatch;
    if (this.#joined.length === 0) return;
    await this.#orWarn(async () => {
      const state = (await deps.store.load(runId))?.state;
      for (const place of this.#joined) {
        if (state?.waits.some(({ id }) => id === place.waitId)) continue;
        await leaveMailbox(deps, place, (eventId) => state !== undefined && hasReceived(state, eventId));
      }
    });
  }

  async #orWarn(leave: () => Promise<void>): Promise<void> {
    const { deps, runId } = this.#dispatch;
    try {
      await leave();
    } catch (error) {
      if (!(error instanceof OutcomeUnknown) && !isOfOtherRun(error)) throw error;
      deps.log.warn('mailbox_not_left', { runId, error: error.message });
    }
  }

  /**
   * Cancels the children whose end the run awaits. A child that was never started has nothing to end: if its start arrives
   * later, it finds its parent ended.
   */
  async endChildren(): Promise<void> {
    const { deps, journal, waits } = this.#dispatch;
    // A start in progress would arrive after the cancellation.
    await this.quiet();
    await eachReadable(waits.childrenOf(journal.state), async ({ id, child }) => {
      if (!child) return;
      await this.#cancelChild(child.runId);
      if (!(await runExists(deps, child.runId))) waits.neverStarted.add(id);
    });
  }

  #cancelChild(runId: string): Promise<void> {
    const { deps, journal } = this.#dispatch;
    return orEnd(deps, runId, deps.otherRuns.cancelChild(journal.state, runId));
  }
}
