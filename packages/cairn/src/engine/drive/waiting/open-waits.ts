/**
 * The open waits of a run while a dispatch holds it, and the room that they take in the snapshot. Several sources (time,
 * events, other processes) may end one wait, and the run continues from one of them.
 *
 * Must not: decide the meaning of an answer for the run.
 */

import type { AnnounceAgain } from '../../../core/decisions/dispatch.ts';
import { CairnError } from '../../../core/errors.ts';
import type { Wait } from '../../../core/run/events.ts';
import { MAX_OPEN_WAITS_BYTES, MAX_REGISTRATIONS } from '../../../core/run/limits.ts';
import { type RunState, stepKey } from '../../../core/run/state.ts';

/** Approximate size of an external registration. */
const REGISTRATION_BYTES = 120;

export class OpenWaits {
  readonly #open = new Map<string, Wait>();
  #bytes = 0;
  #openingBytes = 0;
  /** Ids of waits whose end is being handled. */
  readonly #ended = new Set<string>();
  /** Ids of waits that a flow closed when it ended. A wait whose opening completes afterwards must not be added. */
  readonly #givenUp = new Set<string>();
  /** Ids of waits whose child was never started. */
  readonly neverStarted = new Set<string>();
  /** Announcements that this dispatch could not make, by id of the wait. */
  readonly #unannounced = new Map<string, AnnounceAgain>();

  /** Leaves the announcement of the wait to a later dispatch. */
  announceLater({ id }: Wait, again: AnnounceAgain): void {
    this.#unannounced.set(id, again);
  }

  /** The earliest announcement to repeat among the waits that are still open. */
  get announceAgain(): AnnounceAgain | undefined {
    // This getter runs after each message of the dispatch.
    if (this.#unannounced.size === 0) return undefined;
    const open = [...this.#open.values()].flatMap(({ id }) => this.#unannounced.get(id) ?? []);
    if (open.length === 0) return undefined;
    const { missing } = open.find((again) => again.missing) ?? {};
    return { at: Math.min(...open.map(({ at }) => at)), missing };
  }

  get size(): number {
    return this.#open.size;
  }

  /** Bytes that the snapshot has room for. */
  get freeBytes(): number {
    return MAX_OPEN_WAITS_BYTES - this.#bytes - this.#openingBytes;
  }

  of(key: string): Wait | undefined {
    return this.#open.get(key);
  }

  /** Keeps room for a wait while it is being opened. */
  opening(wait: Wait): void {
    this.#openingBytes += sizeOf(wait);
  }

  /** Call when the wait is open, or its opening was given up. */
  opened(wait: Wait): void {
    this.#openingBytes -= sizeOf(wait);
  }

  /** Returns false if a flow has given the wait up. */
  add(wait: Wait): boolean {
    if (this.#givenUp.has(wait.id)) return false;
    this.#put(wait);
    this.#ended.delete(wait.id);
    return true;
  }

  #put(wait: Wait): void {
    this.drop(wait);
    this.#open.set(stepKey(wait.execution), wait);
    this.#bytes += sizeOf(wait);
  }

  drop({ execution }: Wait): void {
    const key = stepKey(execution);
    const held = this.#open.get(key);
    if (held) this.#bytes -= sizeOf(held);
    this.#open.delete(key);
  }

  giveUp(wait: Wait): void {
    this.#givenUp.add(wait.id);
    this.drop(wait);
  }

  /** True for the first caller that sees the end of the wait. */
  isFirstEnd({ id }: Wait): boolean {
    const isFirst = !this.#ended.has(id);
    this.#ended.add(id);
    return isFirst;
  }

  /** Removes and returns the waits that are no longer open. */
  takeClosed({ waits }: RunState): Wait[] {
    const open = new Set(waits.map(({ id }) => id));
    const closed = [...this.#open.values()].filter(({ id }) => !open.has(id));
    for (const wait of closed) this.drop(wait);
    return closed;
  }

  /** Adopts and returns the waits whose time other processes have extended. */
  takeExtended({ waits }: RunState): Wait[] {
    const moved = waits.filter((wait) => {
      const held = this.of(stepKey(wait.execution));
      return held?.id === wait.id && held.dueAt !== wait.dueAt;
    });
    for (const wait of moved) this.#put(wait);
    return moved;
  }

  /** @throws CairnError PAYLOAD_TOO_LARGE if the snapshot could not carry one more, RUN_TOO_LARGE if the run had too many */
  assertRoomFor(wait: Wait, { ties: { length } }: RunState): void {
    if (length >= MAX_REGISTRATIONS && (wait.kind === 'event' || wait.kind === 'child')) {
      const what = `the run has opened ${length} waits for events and children; the maximum is ${MAX_REGISTRATIONS}`;
      throw new CairnError('RUN_TOO_LARGE', what, { stepId: wait.execution.stepId });
    }
    if (sizeOf(wait) <= this.freeBytes) return;
    const bytes = MAX_OPEN_WAITS_BYTES - this.freeBytes + sizeOf(wait);
    const what = `the open waits of the run would take ${bytes} bytes; the maximum is ${MAX_OPEN_WAITS_BYTES}`;
    throw new CairnError('PAYLOAD_TOO_LARGE', what, {
      stepId: wait.execution.stepId,
      help: 'Open fewer waits at once, ask shorter questions, or use child runs.',
    });
  }

  /** Known children that the run waits for and that have not ended. */
  childrenOf({ waits, compensating }: RunState): Wait[] {
    if (compensating) return [];
    return waits.filter(({ id, child }) => child?.onParentEnd === 'wait' && !this.neverStarted.has(id));
  }
}

/** Bytes of an announced wait in the snapshot, with its registration. */
export function sizeOf(wait: Wait): number {
  return Buffer.byteLength(JSON.stringify({ ...wait, announced: true })) + REGISTRATION_BYTES;
}
