/**
 * Brings to a run what lies ready though its wait has been listed all along. What an event means is said by the step that
 * waits, so a run whose plan version is not deployed takes none in: the event is kept, its sender goes, and nobody would bring
 * the two together when the version is back.
 *
 * Must not: decide which waits would have the event (offer.ts).
 */

import type { RunState } from '../../core/run/state.ts';
import type { EarlyEvent, RendezvousAddress } from '../../ports/rendezvous-store.ts';
import { isPlanMissing } from '../deployed.ts';
import { broughtOf, type DeliverDeps, deliver } from './deliver.ts';
import { lookSoon } from './look-soon.ts';
import { answersOn, waitsFor } from './offer.ts';
import { hasExpired } from './tidy.ts';

/**
 * `not_yet`: something lies ready, and the version that could take it is not deployed. Done again, it changes nothing.
 *
 * @throws OutcomeUnknown, CairnError: then it is to be looked at again
 */
export async function bringReady(
  deps: DeliverDeps,
  state: RunState,
): Promise<'nothing' | 'brought' | 'not_yet'> {
  let isBrought = false;
  for (const address of addressesOf(state)) {
    const stored = await deps.rendezvous.read(address);
    for (const event of stored?.rendezvous.early ?? []) {
      const { drafts, refused } = answersTo(deps, state, { address, event });
      if (refused && isPlanMissing(refused)) return 'not_yet';
      if (drafts.length === 0) continue;
      // As if it were sent again: it goes on from how far its delivery had come, to all who are listed.
      await deliver(deps, address, event);
      isBrought = true;
    }
  }
  return isBrought ? 'brought' : 'nothing';
}

/**
 * Call before a run goes on, and for a task that finds it at rest: the scan that was to bring what another deployment refused
 * (look-soon.ts) loses its time to whatever moved the run since. True: something was brought, and the run is another now.
 *
 * @throws OutcomeUnknown, CairnError
 */
export async function bringOverlooked(deps: DeliverDeps, state: RunState): Promise<boolean> {
  const waits = state.waits.filter(({ announced }) => announced);
  if (waits.length === 0) return false;
  const found = await bringReady(deps, { ...state, waits });
  if (found === 'not_yet') await lookSoon(deps, state.id);
  return found === 'brought';
}

interface Lying {
  readonly address: RendezvousAddress;
  readonly event: EarlyEvent;
}

/** Answers of the run to the event; nothing about other runs. */
function answersTo({ registry, clock }: DeliverDeps, state: RunState, { address, event }: Lying) {
  const now = clock.now();
  if (event.takenBy || hasExpired(event, now)) return { drafts: [] };
  const waits = waitsFor(state, address.event, address.key);
  return answersOn(state, { registry, brought: broughtOf(event), waits, now });
}

/** Each once: a run may wait twice for the same. At most as many as it has open waits. */
function addressesOf({ tenantId, waits }: RunState): readonly RendezvousAddress[] {
  const addresses = new Map<string, RendezvousAddress>();
  for (const { kind, name: event, key } of waits) {
    if (kind !== 'event' || event === undefined || key === undefined) continue;
    addresses.set(JSON.stringify([event, key]), { tenantId, event, key });
  }
  return [...addresses.values()];
}
