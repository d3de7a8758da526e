/** Event mailboxes in Firestore. */
import { FieldValue, type Firestore } from '@google-cloud/firestore';
import type { Mailbox, MailboxAddress, MailboxStore, StoredMailbox } from '../ports/mailbox-store.ts';
import type { Version } from '../ports/run-store.ts';
import { call, isStale, isTaken } from './call.ts';
import type { Members } from './codec/kinds.ts';
import { mailboxCodec } from './codec/mailbox.ts';
import { Paths } from './paths.ts';
import { lastUpdateTime, versionOf } from './version.ts';

export class FirestoreMailboxStore implements MailboxStore {
  readonly #paths: Paths;

  constructor(db: Firestore, prefix?: string) {
    this.#paths = new Paths(db, prefix);
  }

  async read(address: MailboxAddress): Promise<StoredMailbox | undefined> {
    const document = this.#paths.mailbox(address);
    const found = await call('read of a mailbox', () => document.get());
    const data = found.data();
    if (!data || !found.updateTime) return undefined;
    return {
      mailbox: mailboxCodec.decode(data, `mailbox ${document.id}`),
      version: versionOf(found.updateTime),
    };
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
        else await document.update(whole(mailbox), lastUpdateTime(seen));
      });
      return { kind: 'written' };
    } catch (error) {
      if (isTaken(error) || isStale(error)) return { kind: 'stale' };
      throw error;
    }
  }
}

/** An update that leaves nothing of what was there: only updates can carry the precondition of a version. */
function whole(mailbox: Mailbox): Members {
  const members = mailboxCodec.encode(mailbox);
  return Object.fromEntries(mailboxCodec.names.map((name) => [name, members[name] ?? FieldValue.delete()]));
}
