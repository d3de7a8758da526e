/** Event mailboxes in memory. */
import { type Mailbox, type MailboxAddress, mailboxId } from '../core/mailbox/mailbox.ts';
import type { MailboxStore, StoredMailbox } from '../ports/mailbox-store.ts';
import type { Version } from '../ports/run-store.ts';
import { frozenCopy } from './memory-database.ts';
import { MemoryStore } from './memory-store.ts';

export class MemoryMailboxStore extends MemoryStore implements MailboxStore {
  async read(address: MailboxAddress): Promise<StoredMailbox | undefined> {
    return this.db.mailboxes.get(mailboxId(address));
  }

  async write(
    address: MailboxAddress,
    mailbox: Mailbox | undefined,
    seen: Version | undefined,
  ): ReturnType<MailboxStore['write']> {
    const id = mailboxId(address);
    if (this.db.mailboxes.get(id)?.version !== seen) return { kind: 'stale' };
    if (mailbox === undefined) this.db.mailboxes.delete(id);
    else this.db.mailboxes.set(id, { mailbox: frozenCopy(mailbox), version: this.db.nextVersion() });
    return { kind: 'written' };
  }
}
