/**
 * Changes a rendezvous by compare-and-set. A decision is made anew on whatever stands there, also after a write whose
 * answer was lost: each must come to nothing on a rendezvous that holds its own effect already.
 */
import { type Clock, pause } from '../../ports/clock.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Rendezvous, RendezvousAddress, RendezvousStore } from '../../ports/rendezvous-store.ts';
import { OutcomeUnknown } from '../../ports/store-errors.ts';
import { CHANGE_PATIENCE_MS } from './limits.ts';

export interface RendezvousDeps {
  readonly rendezvous: RendezvousStore;
  readonly clock: Clock;
  readonly random: Randomness;
}

/** What a decision wants. The same object as was seen: nothing is written. Undefined: the document is to go. */
export interface Move<T> {
  readonly next: Rendezvous | undefined;
  readonly result: T;
}

const PAUSE_FIRST_MS = 20;
const PAUSE_CAP_MS = 1_000;

/** @throws OutcomeUnknown when patience ended (do the same again), and what `decide` throws */
export async function changeRendezvous<T>(
  deps: RendezvousDeps,
  address: RendezvousAddress,
  decide: (seen: Rendezvous | undefined) => Move<T>,
): Promise<T> {
  const deadline = deps.clock.now() + CHANGE_PATIENCE_MS;
  for (let attempt = 0; ; attempt += 1) {
    const made = await tryOnce(deps, address, decide);
    if (made.kind === 'done') return made.result;
    if (deps.clock.now() >= deadline) throw made.error;
    const bound = Math.min(PAUSE_CAP_MS, PAUSE_FIRST_MS * 2 ** attempt);
    await pause(deps.clock, bound * (0.5 + deps.random.unit() / 2));
  }
}

type Try<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'again'; readonly error: OutcomeUnknown };

async function tryOnce<T>(
  { rendezvous }: RendezvousDeps,
  address: RendezvousAddress,
  decide: (seen: Rendezvous | undefined) => Move<T>,
): Promise<Try<T>> {
  try {
    const stored = await rendezvous.read(address);
    const { next, result } = decide(stored?.rendezvous);
    if (next === stored?.rendezvous) return { kind: 'done', result };
    const { kind } = await rendezvous.write(address, next, stored?.version);
    if (kind === 'written') return { kind: 'done', result };
    return {
      kind: 'again',
      error: new OutcomeUnknown('change of a rendezvous', 'too many change it at once'),
    };
  } catch (error) {
    if (error instanceof OutcomeUnknown) return { kind: 'again', error };
    throw error;
  }
}
