/** The document at which waiting runs and senders of events meet. */
import type { DeliveredEvent, EarlyEvent, Rendezvous, WaitRef } from '../../ports/rendezvous-store.ts';
import { documentCodec, type Kind, kind, map, optional, text, time, word, words } from './kinds.ts';

const waitRef = map<WaitRef>({ runId: text, waitId: text });

const earlyEvent = map<EarlyEvent>({
  eventId: text,
  // Native text, not text within JSON: escaping could double it beyond what a document holds.
  dataText: text,
  actor: optional(text),
  at: time,
  expiresAt: time,
  takenBy: optional(waitRef),
  passing: optional(word<'sender' | 'giver'>()),
  takenIn: words<string>(),
});

const deliveredEvent = map<DeliveredEvent>({
  eventId: text,
  at: time,
  takenIn: words<string>(),
});

export const rendezvousCodec = documentCodec<Rendezvous>({
  tenantId: text,
  event: text,
  key: text,
  waiting: list(waitRef),
  early: list(earlyEvent),
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
