/** Limits of the unread signals of a run, and the choice of those that a successor takes over. */
import type { RunState, UnreadSignal } from '../state.ts';

/** Name of the state's member `unread` in run documents, in the API and in reports about documents. */
export const UNREAD_STORED_AS = 'inbox';

/** Most unread signals of a run. The snapshot holds them. */
export const MAX_UNREAD_SIGNALS = 100;
/** Their data together, in bytes of canonical JSON. */
export const MAX_UNREAD_BYTES = 256 * 1024;

/** Returns true if a signal with this data may be added. */
export function hasRoom(unread: readonly Pick<UnreadSignal, 'payloadText'>[], dataText: string): boolean {
  const bytes = unread.reduce(
    (sum, { payloadText }) => sum + Buffer.byteLength(payloadText),
    Buffer.byteLength(dataText),
  );
  return unread.length < MAX_UNREAD_SIGNALS && bytes <= MAX_UNREAD_BYTES;
}

/**
 * Unread signals of the source, the oldest first, that the successor has not received and has room for. The others stay readable in
 * the source. The limit keeps them from accumulating along a lineage.
 */
export function signalsToCarry(
  { unread, received }: Pick<RunState, 'unread' | 'received'>,
  ofSource: readonly UnreadSignal[],
): readonly UnreadSignal[] {
  const known = new Set(received);
  const carried: UnreadSignal[] = [];
  for (const signal of ofSource) {
    if (known.has(signal.signalId)) continue;
    if (hasRoom([...unread, ...carried], signal.payloadText)) carried.push(signal);
  }
  return carried;
}
