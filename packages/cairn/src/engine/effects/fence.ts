/**
 * The second half of the fence (E1). A caller may act once its event is acknowledged, unless the acknowledgement came late or
 * after a long silence: another process may then have taken the run over, found the effect in doubt, and acted.
 *
 * Must not: append, or decide the outcome of the effect.
 */
import type { Appended } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { EngineDeps } from '../deps.ts';
import type { LedgerAppended } from './effect-call.ts';

/** Limit of the events read. More events than this mean that the dispatch has lost the run. */
const MAX_SINCE = 200;

interface HeartbeatProof {
  /** Time of the request to append. Both times are epoch ms by the clock of the dispatch. */
  readonly sentAt: number;
  /** Time of the dispatch's last heartbeat. */
  readonly provedAt: number;
}

/** @throws CairnError UNAVAILABLE if the holder is unknown; the caller must not act then either */
export async function isStillHeld(
  deps: EngineDeps,
  { state, events }: Appended,
  { sentAt, provedAt }: HeartbeatProof,
): Promise<boolean> {
  const { clock, settings, store } = deps;
  const last = events.at(-1);
  if (!last) return false;
  // After a lost response, the journal shows whether the event was appended, and what was appended since.
  if (state.lease?.owner !== last.writer?.owner || state.lease?.epoch !== last.writer?.epoch) return false;
  const now = clock.now();
  if (now - sentAt < settings.heartbeatMs && now - provedAt < settings.leaseMs / 2) return true;
  const since = await sendUntilKnown(deps, () => store.readEvents(state.id, last.seq, MAX_SINCE));
  // Every take-over appends one of these events (J3).
  return (
    since.length < MAX_SINCE &&
    !since.some(({ type }) => type === 'orphan_detected' || type === 'run_claimed')
  );
}

/** Appends, then checks that the writer still holds the run, so that it may act. */
export async function fenced(
  deps: EngineDeps,
  append: () => Promise<Appended>,
  provedAt: () => number,
): Promise<LedgerAppended> {
  const sentAt = deps.clock.now();
  const appended = await append();
  return {
    wasWritten: appended.events.length > 0,
    effectsVersion: appended.effectsVersion,
    isStillHeld: () => isStillHeld(deps, appended, { sentAt, provedAt: provedAt() }),
  };
}
