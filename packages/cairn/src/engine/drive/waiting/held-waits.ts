/**
 * The open waits of a run while a drive holds it: tells the outside of them, and notices when others have settled one.
 * A wait is in the journal before the outside hears of it, and the run is not suspended before the outside has.
 *
 * Must not: decide what the answer to a wait means for the run.
 */

import { CairnError } from '../../../core/errors.ts';
import type { ChildWait, EventDraft, EventWait, Wait } from '../../../core/run/events.ts';
import { type InboxSignal, type RunState, stepKey, tookIn } from '../../../core/run/state.ts';
import { readable } from '../../../core/thrown.ts';
import type { RunJournal } from '../../../journal/run-journal.ts';
import type { BufferedEvent } from '../../../ports/mailbox-store.ts';
import { OutcomeUnknown } from '../../../ports/store-errors.ts';
import type { ChildStep, EventStep, StepDefinition } from '../../define/steps.ts';
import { isPlanMissing } from '../../deployed.ts';
import type { EngineDeps } from '../../deps.ts';
import { type Output, recorded } from '../../facts/output.ts';
import { joinMailbox } from '../../mailbox/join.ts';
import { type LeaveRequest, leaveMailbox } from '../../mailbox/leave.ts';
import { JOIN_PATIENCE_MS } from '../../mailbox/limits.ts';
import { eventOutput } from '../../mailbox/offer.ts';
import { answered, refused } from '../../waits/settle.ts';

/** About what a tie takes. */
const TIE_BYTES = 120;

export interface HeldWaitsParams {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  /** Aborts when the drive must not fight for a place any longer. */
  readonly hurry: AbortSignal;
  readonly stepOf: (wait: Wait) => StepDefinition;
  /** Input of a child. Throws what the author's function throws. */
  readonly childInput: (wait: Wait) => unknown;
  /** Ends a wait that is still open, and continues from there. */
  readonly end: (wait: Wait, facts: readonly EventDraft[]) => Promise<void>;
}

export class HeldWaits {
  readonly #params: HeldWaitsParams;
  readonly #held = new Map<string, Wait>();
  /** Mailboxes that this drive joined for the run. */
  readonly #joined: LeaveRequest[] = [];
  #bytes = 0;

  constructor(params: HeldWaitsParams) {
    this.#params = params;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Approximate size in the snapshot. */
  get bytes(): number {
    return this.#bytes;
  }

  add(wait: Wait): void {
    this.drop(wait);
    this.#held.set(stepKey(wait.execution), wait);
    this.#bytes += sizeOf(wait);
  }

  of(key: string): Wait | undefined {
    return this.#held.get(key);
  }

  drop({ execution }: Wait): void {
    const key = stepKey(execution);
    const held = this.#held.get(key);
    if (held) this.#bytes -= sizeOf(held);
    this.#held.delete(key);
  }

  /** Takes out and returns those that are not open any more. */
  takeClosed({ waits }: RunState): Wait[] {
    const open = new Set(waits.map(({ id }) => id));
    const closed = [...this.#held.values()].filter(({ id }) => !open.has(id));
    for (const wait of closed) this.drop(wait);
    return closed;
  }

  /** Takes in and returns those whose time others have put off. */
  takePutOff({ waits }: RunState): Wait[] {
    const moved = waits.filter((wait) => {
      const held = this.of(stepKey(wait.execution));
      return held?.id === wait.id && held.dueAt !== wait.dueAt;
    });
    for (const wait of moved) this.add(wait);
    return moved;
  }

  /** Lets the outside know, as often as it takes: doing it again changes nothing. */
  async announce(wait: Wait): Promise<void> {
    if (wait.announced) return;
    if (wait.kind === 'event') await this.#join(wait);
    if (wait.kind === 'child') await this.#startChild(wait);
  }

  async #join(wait: EventWait): Promise<void> {
    const { deps, journal, end } = this.#params;
    const step = this.#params.stepOf(wait) as EventStep;
    const { id: runId, tenantId } = journal.state;
    const place = { tenantId, event: wait.name, key: wait.key, runId, waitId: wait.id };
    let early: BufferedEvent | undefined;
    try {
      // An event that already answered an earlier wait of this run can still lie here: its sender died before it said so.
      const accepts = ({ eventId, dataText }: BufferedEvent) =>
        !tookIn(journal.state, eventId) && acceptable(step, dataText) !== undefined;
      const patience = { ms: JOIN_PATIENCE_MS, signal: this.#params.hurry };
      this.#joined.push(place);
      early = await joinMailbox({ ...deps, patience }, { ...place, accepts });
    } catch (error) {
      // There is no room for another that waits, and waiting for some to come would hold up the whole run. A store that
      // does not answer is another matter: then another drive tries again.
      if (!(error instanceof CairnError) || error.httpStatus >= 500) throw error;
      const now = deps.clock.now();
      return end(wait, refused({ step, wait, now }, { initiator: 'system' }, recorded(step.id, error)));
    }
    const output = early && acceptable(step, early.dataText);
    if (!early || !output) return;
    const { eventId: signalId, actor } = early;
    const now = deps.clock.now();
    const initiator = actor === undefined ? 'system' : 'user';
    await end(wait, answered({ step, wait, now }, { initiator, actor, signalId }, output));
    // Taken in, or, if the wait was over by then, given back to whoever asks next. Its tie sees to it at the end as well.
    try {
      await leaveMailbox(deps, place, (eventId) => tookIn(journal.state, eventId));
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
      deps.log.warn('rendezvous_not_left', { runId, error: error.message });
    }
  }

  /**
   * A slow registration can arrive after the drive that took the run over has closed the wait. Nobody else would remove
   * that entry before the next event arrives there. Entries of open waits belong to the other drive as well.
   */
  async leaveClosed(): Promise<void> {
    const { deps, journal } = this.#params;
    if (this.#joined.length === 0) return;
    const runId = journal.state.id;
    try {
      const state = (await deps.store.load(runId))?.state;
      for (const place of this.#joined) {
        if (state?.waits.some(({ id }) => id === place.waitId)) continue;
        await leaveMailbox(deps, place, (eventId) => state !== undefined && tookIn(state, eventId));
      }
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
      deps.log.warn('rendezvous_not_left', { runId, error: error.message });
    }
  }

  async #startChild(wait: ChildWait): Promise<void> {
    const { deps, journal, childInput, end } = this.#params;
    const step = this.#params.stepOf(wait) as ChildStep;
    try {
      await deps.otherRuns.startChild({
        parent: journal.state,
        wait,
        type: step.workflow,
        input: childInput(wait),
      });
    } catch (thrown) {
      // The schema of the child's workflow may throw anything.
      const error = readable(thrown);
      // A failure of the store, or a definition that no run can start on now, is tried again by another drive; what cannot be a
      // child fails the step.
      if (error instanceof CairnError && (error.httpStatus >= 500 || isPlanMissing(error))) throw error;
      const now = deps.clock.now();
      await end(wait, refused({ step, wait, now }, { initiator: 'system' }, recorded(step.id, error)));
    }
  }
}

/** The oldest signal that came before anything waited for it and that this wait takes. */
export function signalFor(
  { inbox }: RunState,
  step: EventStep,
  wait: Wait,
): { readonly signal: InboxSignal; readonly output: Output } | undefined {
  for (const signal of inbox) {
    if (signal.name !== wait.name || (signal.key !== undefined && signal.key !== wait.key)) continue;
    const output = acceptable(step, signal.payloadText);
    if (output) return { signal, output };
  }
  return undefined;
}

/** Output of the step for the data; undefined if the step refuses it. */
function acceptable(step: EventStep, dataText: string): Output | undefined {
  const output = eventOutput(step, dataText);
  return 'text' in output ? output : undefined;
}

/** A wait in the snapshot once it is announced, and the tie that goes with it. */
export function sizeOf(wait: Wait): number {
  return Buffer.byteLength(JSON.stringify({ ...wait, announced: true })) + TIE_BYTES;
}
