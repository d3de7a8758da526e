/**
 * Decides what a dispatch does next, from its running and remaining steps: wait, end the run (as ending.ts decides), suspend it, or
 * release it. Pure and total: every combination has one answer.
 */
import type { RecordedError, ReleaseError } from '../run/events.ts';
import {
  ATTENDED,
  type CancelledEnding,
  type EndingDecision,
  endingDecision,
  type FailedEnding,
} from './ending.ts';

export interface AnnounceAgain {
  /** Epoch ms. */
  readonly at: number;
  /** The workflow of a child is not deployed; shown as the reason why the run does not continue. */
  readonly missing?: RecordedError | undefined;
}

const AGAIN_FIRST_MS = 15_000;
const AGAIN_CAP_MS = 3_600_000;

/**
 * Time until a later dispatch handles a wait that this one could not, ms. It grows with the time for which the wait has needed one,
 * because each attempt costs a claim and a release.
 */
export function againAfterMs(neededMs: number, capMs = AGAIN_CAP_MS): number {
  return Math.min(capMs, Math.max(AGAIN_FIRST_MS, neededMs));
}

/** State of the work of a dispatch, as the dispatch itself knows it. */
export interface DispatchProgress {
  /** Bodies that are running and may still end with a result. */
  readonly active: number;
  /** Appends without an acknowledgement. */
  readonly unacknowledged: number;
  /** Steps that have not ended, in the whole graph. */
  readonly unsettled: number;
  /** True if a ready step was not started because its timeout exceeds the remaining time of the dispatch. */
  readonly canStart: boolean;
  /** Retries and sleeps that this dispatch waits for. */
  readonly awaited: number;
  /** When the earliest retry or sleep is due, awaited or not; epoch ms. */
  readonly earliestDueAt: number | undefined;
  /** Open waits: for a time, a person, an event, a child. */
  readonly waits: number;
  /** External registrations of waits that must be repeated before the run is suspended. */
  readonly announceAgain: AnnounceAgain | undefined;
  /** First reason of failure: a step failed permanently, or the time of the run is over. */
  readonly failure: RecordedError | undefined;
}

export interface DispatchFacts extends DispatchProgress {
  /** The requested cancellation, if the dispatch stops for it. */
  readonly cancellation: CancelledEnding['cancellation'] | undefined;
  /** True if the plan has compensations. Which of them are due is known only when all results are durable. */
  readonly undoes: boolean;
  /** True if a child with `onParentEnd: 'wait'` has not ended, or may be about to start. */
  readonly childrenOpen: boolean;
  /**
   * Reason why no step may begin. `renewal`: steps were sent back, and the next dispatch begins from there. `paused`: operators
   * paused the run. `cleared`: the run is no longer a suspect.
   */
  readonly stop: DispatchStop | undefined;
}

export type DispatchStop = 'budget' | 'shutdown' | 'renewal' | 'paused' | 'cleared';

export type DispatchDecision =
  | { readonly kind: 'wait' }
  | Exclude<EndingDecision, { kind: 'continue' }>
  /** `until` absent: nothing happens without external input. */
  | { readonly kind: 'suspend'; readonly until?: number | undefined }
  /** The run cancels its children and waits for them before it ends this way. */
  | { readonly kind: 'end_children'; readonly end: CancelledEnding | FailedEnding }
  | {
      readonly kind: 'release';
      readonly reason: DispatchStop | 'retry';
      readonly dueAt?: number | undefined;
      /** The reason why the run cannot continue. The dispatch counts as a failed one. */
      readonly error?: ReleaseError | undefined;
    };

export function dispatchDecision(facts: DispatchFacts): DispatchDecision {
  if (facts.active > 0) return { kind: 'wait' };
  const { cancellation, undoes: undoDue, failure, unsettled, childrenOpen } = facts;
  const ended = { allEnded: unsettled === 0, childrenOpen };
  const ending = endingDecision({ ...ATTENDED, cancellation, undoDue, failure, ...ended });
  const waitsOut = ending.kind === 'continue' && ending.because === 'children_open';
  // Compensations are new work, which a pause forbids.
  if ((ending.kind === 'undo_first' || waitsOut) && facts.stop === 'paused')
    return { kind: 'release', reason: 'paused' };
  if (waitsOut)
    return facts.unacknowledged > 0 ? { kind: 'wait' } : { kind: 'end_children', end: ending.end };
  if (ending.kind !== 'continue') return ending;
  if (facts.stop) return { kind: 'release', reason: facts.stop };
  if (facts.unacknowledged > 0 || facts.awaited > 0) return { kind: 'wait' };
  if (facts.canStart) return { kind: 'release', reason: 'budget' };
  const dueAt = facts.earliestDueAt;
  const { announceAgain } = facts;
  if (announceAgain) {
    const { at, missing } = announceAgain;
    return { kind: 'release', reason: 'retry', dueAt: Math.min(at, dueAt ?? at), error: missing };
  }
  if (facts.waits > 0) return { kind: 'suspend', until: dueAt };
  if (dueAt !== undefined) return { kind: 'release', reason: 'retry', dueAt };
  throw new Error(`${facts.unsettled} steps have not ended, and no event can end them`);
}
