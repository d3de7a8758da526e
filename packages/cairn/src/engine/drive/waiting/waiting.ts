/**
 * The waits of a drive: opens them, lets time end them, and takes in how others ended them.
 *
 * Must not: tell the outside of a wait itself (held-waits.ts).
 */

import { CairnError } from '../../../core/errors.ts';
import type { EventDraft, RecordedError, StepExecution, Wait } from '../../../core/run/events.ts';
import { MAX_OPEN_WAITS_BYTES, MAX_TIES } from '../../../core/run/limits.ts';
import { type RunState, stepKey } from '../../../core/run/state.ts';
import { readable } from '../../../core/thrown.ts';
import { sendUntilKnown } from '../../../journal/send-until-known.ts';
import { OutcomeUnknown } from '../../../ports/store-errors.ts';
import type { ChildStep, WaitStep } from '../../define/steps.ts';
import * as drafts from '../../facts/drafts.ts';
import { NO_OUTPUT, type Outcome } from '../../facts/output.ts';
import { opened, waitOf } from '../../waits/open.ts';
import { answered } from '../../waits/settle.ts';
import { timeUp } from '../../waits/time-up.ts';
import type { StepMoves } from '../moves.ts';
import { loadOutputs } from '../outputs.ts';
import type { Scope } from '../scope.ts';
import { mayEnter, type Unit } from '../step-inputs.ts';
import { HeldWaits, signalFor, sizeOf } from './held-waits.ts';

/** Actions of the drive for waits. */
export interface WaitingMoves extends StepMoves {
  readonly unitOf: (key: string) => Unit;
  readonly restNoMore: (key: string) => void;
}

const TELL_AGAIN_FIRST_MS = 15_000;
const TELL_AGAIN_CAP_MS = 3_600_000;

/** After as long again as it has been tried for: each time costs a claim and a release. */
function tellAgainAt({ openedAt }: Wait, now: number, random: number): number {
  const bound = Math.min(TELL_AGAIN_CAP_MS, Math.max(TELL_AGAIN_FIRST_MS, now - openedAt));
  return now + Math.ceil(bound * (0.5 + random / 2));
}

export class Waiting {
  readonly #scope: Scope;
  readonly #moves: WaitingMoves;
  readonly #held: HeldWaits;
  #openingBytes = 0;
  /** Pending external registrations of waits. */
  readonly #telling = new Set<Promise<void>>();
  readonly #hurry = new AbortController();
  /** Time to retry failed announcements; epoch ms. */
  #tellAgainAt: number | undefined;
  /**
   * Waits whose end is being handled: several sources may see it (time, external, others), and one continues from
   * there.
   */
  readonly #takenIn = new Set<string>();
  /** Waits that a flow closed when it ended: one that is being opened must not be held afterwards. */
  readonly #givenUp = new Set<string>();
  /** Waits whose child there is not. */
  readonly #neverStarted = new Set<string>();

  constructor(scope: Scope, moves: WaitingMoves) {
    this.#scope = scope;
    this.#moves = moves;
    this.#held = new HeldWaits({
      deps: scope.deps,
      journal: scope.journal,
      hurry: this.#hurry.signal,
      stepOf: ({ execution }) => moves.unitOf(stepKey(execution)).step,
      childInput: ({ execution }) => {
        const unit = moves.unitOf(stepKey(execution));
        return (unit.step as ChildStep).input(scope.seenBy(unit));
      },
      end: (wait, facts) => this.#end(wait, facts),
    });
  }

  /** Open waits. */
  get size(): number {
    return this.#held.size;
  }

  isHeld(key: string): boolean {
    return this.#held.of(key) !== undefined;
  }

  /** Resolves once no announcement is in progress: a wait must not be registered after the run's end. */
  async quiet(): Promise<void> {
    this.#hurry.abort();
    while (this.#telling.size > 0) await Promise.allSettled(this.#telling);
  }

  /** For a drive that has lost its run, once it is quiet. */
  leaveClosed(): Promise<void> {
    return this.#held.leaveClosed();
  }

  /** Opens the wait of a step in the journal, then announces it. An earlier signal answers it at once. */
  open(unit: Unit, step: WaitStep): Promise<void> {
    return this.#tell(this.#open(unit, step));
  }

  async #open(unit: Unit, step: WaitStep): Promise<void> {
    const scope = this.#scope;
    const now = scope.deps.clock.now();
    const execution = scope.nextExecution(unit);
    const seen = scope.seenBy(unit);
    // The condition of a map step was evaluated once, before its items.
    const entry = unit.item ? { kind: 'run' as const } : mayEnter(step, seen);
    if (entry.kind !== 'run') return this.#moves.notEntered(unit, execution, entry);
    let wait: Wait;
    try {
      wait = waitOf(step, { runId: scope.runId, execution, seen, now });
      this.#assertRoomFor(wait);
    } catch (thrown) {
      return this.#moves.notEntered(unit, execution, { kind: 'failed', cause: readable(thrown) });
    }
    this.#moves.begin(unit);
    let answer: Outcome | undefined;
    const decide = (state: RunState): EventDraft[] => {
      const found = step.kind === 'event' ? signalFor(state, step, wait) : undefined;
      answer = found && { kind: 'done', output: found.output };
      if (!found) return [opened(wait)];
      const { signalId } = found.signal;
      return [
        opened(wait),
        ...answered({ step, wait, now }, { initiator: 'system', signalId }, found.output),
      ];
    };
    // It is held before it stops counting: in between nothing would seem to be left to wait for.
    await scope.counted(async () => {
      const { events } = await this.opening(wait, () => scope.append(decide, execution));
      if (answer) await this.#moves.settle(unit, execution, [], answer);
      else if (events.length > 0) this.hold(wait);
    });
    this.#moves.advance();
  }

  /** Bytes that the snapshot has room for. */
  get freeBytes(): number {
    return MAX_OPEN_WAITS_BYTES - this.#held.bytes - this.#openingBytes;
  }

  /** Keeps room for a wait while it is being opened. */
  async opening<T>(wait: Wait, open: () => Promise<T>): Promise<T> {
    const bytes = sizeOf(wait);
    this.#openingBytes += bytes;
    try {
      return await open();
    } finally {
      this.#openingBytes -= bytes;
    }
  }

  /** @throws CairnError PAYLOAD_TOO_LARGE if the snapshot could not carry one more, RUN_TOO_LARGE if the run had too many */
  #assertRoomFor(wait: Wait): void {
    const { length } = this.#scope.journal.state.ties;
    if (length >= MAX_TIES && (wait.kind === 'event' || wait.kind === 'child')) {
      const what = `the run has opened ${length} waits for events and children; the most is ${MAX_TIES}`;
      throw new CairnError('RUN_TOO_LARGE', what, { stepId: wait.execution.stepId });
    }
    if (sizeOf(wait) <= this.freeBytes) return;
    const bytes = MAX_OPEN_WAITS_BYTES - this.freeBytes + sizeOf(wait);
    const what = `the open waits of the run would take ${bytes} bytes; the most is ${MAX_OPEN_WAITS_BYTES}`;
    throw new CairnError('PAYLOAD_TOO_LARGE', what, {
      stepId: wait.execution.stepId,
      help: 'Open fewer waits at once, ask shorter questions, or use child runs.',
    });
  }

  /** Adopts an open wait: announces it if necessary, and watches its time. */
  hold(wait: Wait): void {
    if (this.#givenUp.has(wait.id)) return;
    this.#held.add(wait);
    this.#takenIn.delete(wait.id);
    this.#watch(wait);
    const { waits, cancellation } = this.#scope.journal.state;
    // A wait that was not announced before the run ends needs no announcement.
    if (wait.announced || cancellation || !waits.some(({ id }) => id === wait.id)) return;
    this.#inBackground(() => this.#tell(this.#announce(wait)));
  }

  /** The journal has closed the wait because nothing needs its answer any more. */
  async giveUp(wait: Wait): Promise<void> {
    const { deps, journal } = this.#scope;
    this.#givenUp.add(wait.id);
    this.#held.drop(wait);
    this.#moves.restNoMore(stepKey(wait.execution));
    if (wait.child?.onParentEnd !== 'cancel') return;
    const { runId } = wait.child;
    await this.#scope.counted(() => deps.otherRuns.cancelChild(journal.state, runId));
  }

  /** A failed registration is repeated by a later drive: this one releases the run, which is not a death. */
  async #announce(wait: Wait): Promise<void> {
    try {
      await this.#held.announce(wait);
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
      const { deps, runId } = this.#scope;
      const at = tellAgainAt(wait, deps.clock.now(), deps.random.unit());
      this.#tellAgainAt = Math.min(this.#tellAgainAt ?? at, at);
      deps.log.warn('wait_not_announced', { runId, waitId: wait.id, error: error.message });
    }
  }

  /** When a drive must tell the outside of waits of which this one could not; epoch ms. */
  get tellAgainAt(): number | undefined {
    return this.#tellAgainAt;
  }

  /** The time of a wait has come. False: nothing with this key waits. */
  timeUp(key: string): boolean {
    const wait = this.#held.of(key);
    if (wait) this.#scope.guard(this.#expire(wait));
    return wait !== undefined;
  }

  /** Takes in how others ended waits. */
  adopt(state: RunState): void {
    for (const wait of this.#held.takeClosed(state)) {
      this.#moves.restNoMore(stepKey(wait.execution));
      this.#takeIn(wait);
    }
    for (const wait of this.#held.takePutOff(state)) this.#watch(wait);
  }

  #watch({ execution, dueAt }: Wait): void {
    const key = stepKey(execution);
    this.#moves.restNoMore(key);
    if (dueAt !== undefined) this.#moves.rest(key, dueAt);
  }

  async #expire(wait: Wait): Promise<void> {
    const { deps, journal } = this.#scope;
    const { step } = this.#moves.unitOf(stepKey(wait.execution));
    const facts = timeUp({ step, wait, now: deps.clock.now() });
    // A heartbeat that came first has put its time off.
    await this.#end(wait, facts, ({ dueAt }) => dueAt === wait.dueAt);
    // The tie to a child stays until it has told its parent, so that the end of the run would cancel it as well.
    const { child } = wait;
    if (child) await this.#scope.counted(() => deps.otherRuns.cancelChild(journal.state, child.runId));
    this.#moves.advance();
  }

  /** A child that the run waits out has not ended, as far as is known. */
  get childrenOpen(): boolean {
    return this.#toWaitOut().length > 0;
  }

  #toWaitOut(): Wait[] {
    const { waits, compensating } = this.#scope.journal.state;
    if (compensating) return [];
    return waits.filter(({ id, child }) => child?.onParentEnd === 'wait' && !this.#neverStarted.has(id));
  }

  /**
   * Cancels the children that the run waits out. One that was never started has nothing to end; should its start arrive later, it finds
   * its parent gone.
   */
  async endChildren(): Promise<void> {
    const { deps, journal } = this.#scope;
    // A start under way would arrive behind its cancellation.
    await this.quiet();
    for (const { id, child } of this.#toWaitOut()) {
      if (!child) continue;
      await deps.otherRuns.cancelChild(journal.state, child.runId);
      const found = await sendUntilKnown(deps, () => deps.store.load(child.runId));
      if (!found) this.#neverStarted.add(id);
    }
  }

  /** Ends a wait, unless it has ended or the journal says that it may not (`mayEnd`). */
  async #end(
    wait: Wait,
    facts: readonly EventDraft[],
    mayEnd: (open: Wait) => boolean = () => true,
  ): Promise<void> {
    const key = stepKey(wait.execution);
    this.#held.drop(wait);
    this.#moves.restNoMore(key);
    const isOpen = (state: RunState) => state.waits.some((open) => open.id === wait.id && mayEnd(open));
    const outcome = drafts.outcomeOf(facts);
    await this.#scope.counted(async () => {
      const { events, state } = await this.#scope.appendHeld((current) => (isOpen(current) ? facts : []));
      const open = state.waits.find(({ id }) => id === wait.id);
      if (open && !mayEnd(open)) this.hold(open);
      else if (events.length === 0) this.#takeIn(wait);
      else if (!outcome) this.#takeIn(wait);
      else if (this.#isFirst(wait))
        await this.#moves.settle(this.#moves.unitOf(key), wait.execution, [], outcome);
    });
    this.#moves.advance();
  }

  #isFirst({ id }: Wait): boolean {
    const isFirst = !this.#takenIn.has(id);
    this.#takenIn.add(id);
    return isFirst;
  }

  #takeIn(wait: Wait): void {
    if (!this.#isFirst(wait)) return;
    const { execution } = wait;
    const key = stepKey(execution);
    const step = this.#scope.journal.state.steps.get(key);
    if (step?.phase === 'retrying') this.#moves.restAs(key, step);
    else if (step?.phase === 'done') this.#inBackground(() => this.#takeInOutcome(key, execution));
  }

  async #takeInOutcome(key: string, execution: StepExecution): Promise<void> {
    const { deps, journal, outputs, runId } = this.#scope;
    const unit = this.#moves.unitOf(key);
    const step = journal.state.steps.get(key);
    if (step?.phase !== 'done') return;
    if (step.outcome === 'skipped') return this.#moves.settle(unit, execution, [], { kind: 'skipped' });
    if (step.outcome === 'failed') {
      const error = await this.#errorAt(step.seq);
      return this.#moves.settle(unit, execution, [], { kind: 'failed', error });
    }
    const isWanted = unit.item !== undefined || outputs.wants(unit.step.id);
    const [output = NO_OUTPUT] = isWanted ? await loadOutputs(deps.store, runId, [step.seq]) : [];
    await this.#moves.settle(unit, execution, [], { kind: 'done', output });
  }

  #inBackground(work: () => Promise<void>): void {
    this.#scope.guard(this.#scope.counted(work).then(() => this.#moves.advance()));
  }

  #tell(work: Promise<void>): Promise<void> {
    this.#telling.add(work);
    return work.finally(() => this.#telling.delete(work));
  }

  async #errorAt(seq: number): Promise<RecordedError> {
    const { deps, runId } = this.#scope;
    const [event] = await deps.store.readEvents(runId, seq - 1, 1);
    if (event?.type !== 'step_failed') throw new Error(`run ${runId}: event ${seq} is not a failure`);
    return event.data.error;
  }
}
