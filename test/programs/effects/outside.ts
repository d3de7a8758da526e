/** Access of a process's bodies to the receiver: capabilities of every nature, and bindings of the process. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { Bindings } from '../../../packages/cairn/src/engine/define/bindings.ts';
import {
  type Binding,
  type Capability,
  defineBinding,
  defineCapability,
} from '../../../packages/cairn/src/engine/define/capability.ts';
import { NATURES, type Welcome } from './plan.ts';
import type { Receiver } from './receiver.ts';

/** A request. `welcome` is the behaviour of the receiver, so that the receiver need not know the program. */
export interface Asked {
  readonly what: string;
  readonly welcome: Welcome;
}

export interface Done {
  readonly serial: number;
}

export const CAPABILITIES: readonly Capability<Asked, Done>[] = NATURES.map(({ withLookup: _, ...how }, i) =>
  defineCapability<Asked, Done>({
    id: `outside.act${i}`,
    ...how,
    request: z.object({
      what: z.string(),
      welcome: z.enum(['taken', 'refused_once', 'refused_twice', 'refused_for_good']),
    }),
    response: z.object({ serial: z.number() }),
  }),
);

/** The run of the current body, for the receiver's records only. */
export const acting = new AsyncLocalStorage<{ readonly runId: string }>();

/** @param arrivals the receiver as the process reaches it: calls may be lost, late, and never answered */
export function bindingsTo(
  receiver: Receiver,
  arrivals: Pick<Receiver, 'arrive' | 'look'>,
  isAlive: () => boolean,
): Bindings {
  return new Bindings(
    CAPABILITIES.map((capability, i): Binding => {
      const { idempotency, withLookup } = NATURES[i] as (typeof NATURES)[number];
      return defineBinding(capability, {
        id: `outside.bound${i}`,
        async call({ what, welcome }, { idempotencyKey: key, signal }) {
          const { runId = 'nobody' } = acting.getStore() ?? {};
          const letter = { key, what, welcome, runId, isAlive, dedupes: idempotency === 'required' };
          receiver.send(letter);
          const arrival = arrivals.arrive(letter).catch((error) => {
            receiver.drop(letter);
            throw error;
          });
          // Every second binding stops at its signal. Its request still arrives.
          return i % 2 === 0 ? arrival : Promise.race([arrival, aborted(signal)]);
        },
        ...(withLookup
          ? {
              async lookup(_asked: Asked, { idempotencyKey }: { readonly idempotencyKey: string }) {
                const { found, serial } = await arrivals.look(idempotencyKey);
                return found ? { found, response: { serial } } : { found: false as const };
              },
            }
          : {}),
      });
    }),
  );
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
