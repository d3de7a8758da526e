/** A process that can be killed: from then on nothing it does has any effect, and nothing answers it. */
import type { EngineDeps } from '../../functions/src/engine/deps.ts';
import { type Call, intercept, never, type Proceed } from './intercept.ts';
import { seededRandomness } from './world.ts';

export interface Mortal {
  readonly deps: EngineDeps;
  /** SIGKILL. */
  kill(): void;
  /** SIGTERM. */
  terminate(): void;
}

/** @param seed another one for each process: owners of leases must differ */
export function mortal(base: EngineDeps, seed: number): Mortal {
  let alive = true;
  const shutdown = new AbortController();
  const mayDie = ({ method: _ }: Call, proceed: Proceed) =>
    alive ? proceed().then((answer) => (alive ? answer : never())) : never();
  return {
    deps: {
      ...base,
      store: intercept(base.store, mayDie),
      queue: intercept(base.queue, mayDie),
      rendezvous: intercept(base.rendezvous, mayDie),
      runtime: intercept(base.runtime, mayDie),
      clock: {
        now: () => base.clock.now(),
        timer: (delayMs, fire) => base.clock.timer(delayMs, () => alive && fire()),
      },
      random: seededRandomness(seed),
      shutdown: shutdown.signal,
    },
    kill: () => {
      alive = false;
    },
    terminate: () => shutdown.abort(),
  };
}
