/** Event mailboxes in Firestore. */
import type { Mailbox, MailboxAddress } from '../core/mailbox/mailbox.ts';
import type { MailboxStore, StoredMailbox } from '../ports/mailbox-store.ts';
import type { Version } from '../ports/run-store.ts';
import { call, isStale, isTaken } from './call.ts';
import { mailboxCodec } from './codec/mailbox.ts';
import { FirestoreStore } from './firestore-store.ts';
import { lastUpdateTime } from './version.ts';
import { readVersioned, wholeUpdate } from './versioned-document.ts';

export class FirestoreMailboxStore extends FirestoreStore implements MailboxStore {
  async read(address: MailboxAddress): Promise<StoredMailbox | undefined> {
    const document = this.paths.mailbox(address);
    const named = { what: 'read of a mailbox', name: `mailbox ${document.id}` };
    const found = await readVersioned(document, mailboxCodec, named);
    return found && { mailbox: found.value, version: found.version };
  }

  async write(
    address: MailboxAddress,
    mailbox: Mailbox | undefined,
    seen: Version | undefined,
  ): ReturnType<MailboxStore['write']> {
    const document = this.paths.mailbox(address);
    try {
      await call('write of a mailbox', async () => {
        if (mailbox === undefined) {
          if (seen !== undefined) await document.delete(lastUpdateTime(seen));
        } else if (seen === undefined) await document.create(mailboxCodec.encode(mailbox));
        else await document.update(wholeUpdate(mailboxCodec, mailbox), lastUpdateTime(seen));
      });
      return { kind: 'written' };
    } catch (error) {
      if (isTaken(error) || isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }
}
