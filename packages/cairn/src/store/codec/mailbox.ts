/** The document of an event mailbox. `early` and `takenIn` are stored names. */
import type { BufferedEvent, DeliveredEvent, Mailbox, WaitRef } from '../../core/mailbox/mailbox.ts';
import { documentCodec, type Kind, kind, map, optional, renamed, text, time, word, words } from './kinds.ts';

const waitRef = map<WaitRef>({ runId: text, waitId: text });

const bufferedEvent = map<BufferedEvent>({
  eventId: text,
  // Native text, not text within JSON: escaping could double it beyond what a document holds.
  dataText: text,
  actor: optional(text),
  at: time,
  expiresAt: time,
  takenBy: optional(waitRef),
  passing: optional(word<'sender' | 'giver'>()),
  deliveredTo: renamed('takenIn', words<string>()),
});

const deliveredEvent = map<DeliveredEvent>({
  eventId: text,
  at: time,
  deliveredTo: renamed('takenIn', words<string>()),
});

export const mailboxCodec = documentCodec<Mailbox>({
  tenantId: text,
  event: text,
  key: text,
  waiting: list(waitRef),
  buffered: renamed('early', list(bufferedEvent)),
  delivered: list(deliveredEvent),
  expiresAt: optional(time),
});

function list<V>(of: Kind<V>): Kind<readonly V[]> {
  return kind(
    (values) => values.map((value) => of.encode(value)),
    (raw) => {
      if (!Array.isArray(raw)) throw new Error(`expected a list, found ${typeof raw}`);
      return raw.map((member) => of.decode(member));
    },
  );
}
