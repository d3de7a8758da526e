/**
 * An event mailbox: one document per tenant, event and correlation key, where waiting runs and senders meet. Separate
 * from the journals: a journal has the received events of a run, a mailbox only waits and buffered events, and every
 * entry can be checked against a journal.
 */
import { sha256Hex } from '../encoding/hash.ts';
import { canonicalJson } from '../encoding/json.ts';

export interface MailboxAddress {
  readonly tenantId: string;
  readonly event: string;
  /** Correlation key of events with one name. */
  readonly key: string;
}

/** An open wait of a run. */
export interface WaitRef {
  readonly runId: string;
  readonly waitId: string;
}

/**
 * An event that is not settled: it is buffered, held by one wait, or being delivered to the registered waits
 * (`passing`). It may be held and passing: a wait may take an event during its delivery. Times in epoch ms.
 */
export interface BufferedEvent {
  readonly eventId: string;
  /** Canonical JSON. */
  readonly dataText: string;
  /** Sender. */
  readonly actor?: string | undefined;
  readonly at: number;
  /** Time after which it is no longer delivered. */
  readonly expiresAt: number;
  /** Holder of the event, until the event is in its journal or is returned. */
  readonly takenBy?: WaitRef | undefined;
  /** The process that delivers it to all registered waits: its sender, or the one that returned it. */
  readonly passing?: 'sender' | 'giver' | undefined;
  /** Runs known to have received it; see `MAX_NAMED_RUNS` in limits.ts. */
  readonly deliveredTo: readonly string[];
}

/** A delivered event, kept so that a repetition is recognised. */
export interface DeliveredEvent {
  readonly eventId: string;
  /** When it was found delivered, epoch ms. */
  readonly at: number;
  /** Runs that took it in; see `MAX_NAMED_RUNS`. */
  readonly deliveredTo: readonly string[];
}

export interface Mailbox extends MailboxAddress {
  readonly waiting: readonly WaitRef[];
  readonly buffered: readonly BufferedEvent[];
  readonly delivered: readonly DeliveredEvent[];
  /** Time after which the unused document may be deleted, epoch ms; absent while it is in use. */
  readonly expiresAt?: number | undefined;
}

/** Requested change. The same object as read: no write. Undefined: delete the document. */
export interface Move<T> {
  readonly next: Mailbox | undefined;
  readonly result: T;
}

/** Document id of an event mailbox: names and keys may have any text, ids may not. */
export function mailboxId({ tenantId, event, key }: MailboxAddress): string {
  return sha256Hex(canonicalJson([tenantId, event, key]));
}
