/** Bounds of an inbox of signals, and the choice of the signals that a successor takes over. */
import type { InboxSignal, RunState } from '../state.ts';

/** Most signals in an inbox, which is stored in the snapshot. */
export const MAX_INBOX = 100;
/** Their data together, in bytes of canonical JSON. */
export const MAX_INBOX_BYTES = 256 * 1024;

export function hasRoom(inbox: readonly Pick<InboxSignal, 'payloadText'>[], dataText: string): boolean {
  const bytes = inbox.reduce(
    (sum, { payloadText }) => sum + Buffer.byteLength(payloadText),
    Buffer.byteLength(dataText),
  );
  return inbox.length < MAX_INBOX && bytes <= MAX_INBOX_BYTES;
}

/**
 * Those of `unread`, the oldest first, that the successor has not received and has room for. The others stay readable in the
 * source. The bound keeps inboxes from growing along a lineage.
 */
export function signalsToCarry(
  { inbox, received }: Pick<RunState, 'inbox' | 'received'>,
  unread: readonly InboxSignal[],
): readonly InboxSignal[] {
  const known = new Set(received);
  const carried: InboxSignal[] = [];
  for (const signal of unread) {
    if (known.has(signal.signalId)) continue;
    if (hasRoom([...inbox, ...carried], signal.payloadText)) carried.push(signal);
  }
  return carried;
}
