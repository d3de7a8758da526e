/**
 * The documents of event mailboxes, changed by compare-and-set.
 *
 * Must not: decide who receives an event (core/mailbox/).
 */
import type { Mailbox, MailboxAddress } from '../core/mailbox/mailbox.ts';
import type { Version } from './run-store.ts';

export interface StoredMailbox {
  readonly mailbox: Mailbox;
  readonly version: Version;
}

/** Throws `OutcomeUnknown` if it is unknown whether a write was applied. */
export interface MailboxStore {
  read(address: MailboxAddress): Promise<StoredMailbox | undefined>;
  /**
   * Replaces the version last seen, or creates the document; an undefined value deletes that version. `stale`: a
   * concurrent write won, and nothing was written.
   */
  write(
    address: MailboxAddress,
    mailbox: Mailbox | undefined,
    seen: Version | undefined,
  ): Promise<{ readonly kind: 'written' } | { readonly kind: 'stale' }>;
}
