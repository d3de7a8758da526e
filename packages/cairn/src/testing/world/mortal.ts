/** A process that can be killed: from then on nothing it does has any effect, and nothing answers it. */
import { optional } from '../../core/optional.ts';
import type { EngineDeps } from '../../engine/deps.ts';
import type { Tracer } from '../../ports/telemetry/tracing.ts';
import { intercept, never, type Proceed } from './intercept.ts';
import { seededRandomness } from './seeded-randomness.ts';

export interface Mortal {
  readonly deps: EngineDeps;
  /** SIGKILL. */
  kill(): void;
  /** SIGTERM. */
  terminate(): void;
}

/**
 * Members that belong to the process itself or have no effect outside it. Everything else dies with it. Bindings do
 * not: one is only called after an append, and a request sent before the death arrives.
 */
const OWN: ReadonlySet<string> = new Set([
  'bindings',
  'clock',
  'log',
  'random',
  'registry',
  'settings',
  'shutdown',
  'tracer',
]);

/** @param seed another one for each process: owners of leases must differ */
export function mortal(base: EngineDeps, seed: number): Mortal {
  let alive = true;
  const shutdown = new AbortController();
  const mayDie = (_: unknown, proceed: Proceed) =>
    alive ? proceed().then((answer) => (alive ? answer : never())) : never();
  const ports = Object.entries(base).filter(([name]) => !OWN.has(name));
  return {
    deps: {
      ...base,
      ...Object.fromEntries(ports.map(([name, port]) => [name, intercept(port as object, mayDie)])),
      clock: {
        now: () => base.clock.now(),
        timer: (delayMs, fire) => base.clock.timer(delayMs, () => alive && fire()),
      },
      random: seededRandomness(seed),
      ...optional('tracer', base.tracer && mortalTracer(base.tracer, () => alive)),
      shutdown: shutdown.signal,
    },
    kill: () => {
      alive = false;
    },
    terminate: () => shutdown.abort(),
  };
}

/** Drops spans that a dead process had not reported. */
function mortalTracer(base: Tracer, isAlive: () => boolean): Tracer {
  return {
    decided: (context) => base.decided(context),
    open(options) {
      const span = base.open(options);
      return {
        context: span.context,
        set: (attributes) => span.set(attributes),
        rename: (name) => span.rename(name),
        end: (failure) => isAlive() && span.end(failure),
      };
    },
  };
}
