/** Event mailboxes in Firestore. */
import type { Firestore } from '@google-cloud/firestore';
import type { Mailbox, MailboxAddress, MailboxStore, StoredMailbox } from '../ports/mailbox-store.ts';
import type { Version } from '../ports/run-store.ts';
import { call, isStale, isTaken } from './call.ts';
import { mailboxCodec } from './codec/mailbox.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime } from './version.ts';
import { readVersioned, wholeUpdate } from './versioned-document.ts';

export class FirestoreMailboxStore implements MailboxStore {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async read(address: MailboxAddress): Promise<StoredMailbox | undefined> {
    const document = this.#paths.mailbox(address);
    const named = { what: 'read of a mailbox', name: `mailbox ${document.id}` };
    const found = await readVersioned(document, mailboxCodec, named);
    return found && { mailbox: found.value, version: found.version };
  }

  async write(
    address: MailboxAddress,
    mailbox: Mailbox | undefined,
    seen: Version | undefined,
  ): ReturnType<MailboxStore['write']> {
    const document = this.#paths.mailbox(address);
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
