/**
 * Where runs that wait for an event and those who send it meet: one document for each tenant, event and correlation
 * key. It is told apart from the journals on purpose: a journal says what a run has taken in, this only who asks and
 * what lies ready, and every entry in it can be checked against a journal.
 *
 * Must not: decide who gets what (see engine/rendezvous/).
 */
import { sha256Hex } from '../core/encoding/hash.ts';
import { canonicalJson } from '../core/encoding/json.ts';
import type { Version } from './run-store.ts';

/** Which rendezvous. */
export interface RendezvousAddress {
  readonly tenantId: string;
  /** Name of the event. */
  readonly event: string;
  /** Which one of that name. */
  readonly key: string;
}

/** An open wait of a run. */
export interface WaitRef {
  readonly runId: string;
  readonly waitId: string;
}

/**
 * An event that is not yet done with: it lies ready, or one wait has taken it out, or it is on its
 * way to those who are listed (`passing`). Times in epoch ms.
 */
export interface EarlyEvent {
  readonly eventId: string;
  /** Canonical JSON. */
  readonly dataText: string;
  /** Sender. */
  readonly actor?: string;
  readonly at: number;
  /** From here on nobody is given it any more. */
  readonly expiresAt: number;
  /** Holder of the event, until its journal has it or returns it. */
  readonly takenBy?: WaitRef;
  /** Somebody is handing it to all who are listed: its sender, or who gave it back. */
  readonly passing?: 'sender' | 'giver';
  /** Runs known to have taken it in so far; see `MAX_NAMED_RUNS` in engine/rendezvous/limits.ts. */
  readonly takenIn: readonly string[];
}

/** An event that is done with, kept so that a repetition of it is known. */
export interface DeliveredEvent {
  readonly eventId: string;
  /** When it was found delivered, epoch ms. */
  readonly at: number;
  /** Runs that took it in; see `MAX_NAMED_RUNS`. */
  readonly takenIn: readonly string[];
}

export interface Rendezvous extends RendezvousAddress {
  readonly waiting: readonly WaitRef[];
  readonly early: readonly EarlyEvent[];
  readonly delivered: readonly DeliveredEvent[];
  /** When the document may be deleted because nobody needs it any more, epoch ms; absent while somebody does. */
  readonly expiresAt?: number;
}

export interface StoredRendezvous {
  readonly rendezvous: Rendezvous;
  readonly version: Version;
}

/** Throws `OutcomeUnknown` where it cannot know whether a write was applied. */
export interface RendezvousStore {
  /** The store whose calls this one counts; absent: it is one of its own. */
  readonly countsFor?: RendezvousStore;
  read(address: RendezvousAddress): Promise<StoredRendezvous | undefined>;
  /**
   * Puts the rendezvous in the place of the version last seen, or where none was; undefined deletes that version.
   * `stale` means that another was faster, and nothing was written.
   */
  write(
    address: RendezvousAddress,
    rendezvous: Rendezvous | undefined,
    seen: Version | undefined,
  ): Promise<{ readonly kind: 'written' } | { readonly kind: 'stale' }>;
}

/** Id of the document of a rendezvous: names and keys may hold any text, ids may not. */
export function rendezvousId({ tenantId, event, key }: RendezvousAddress): string {
  return sha256Hex(canonicalJson([tenantId, event, key]));
}
