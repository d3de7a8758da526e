/** A process that can be killed: from then on nothing it does has any effect, and nothing answers it. */
import { Bindings } from '../../engine/define/bindings.ts';
import type { Binding } from '../../engine/define/capability.ts';
import type { EngineDeps } from '../../engine/deps.ts';
import type { Tracer } from '../../ports/tracing.ts';
import type { CrashPlan } from './crash-plan.ts';
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
 * Members that have no effect outside the process. All other members stop with it, except bindings: a binding is called only
 * after an append, and a request sent before the death arrives.
 */
const OWN: ReadonlySet<string> = new Set([
  'bindings',
  'callPolicy',
  'clock',
  'log',
  'random',
  'registry',
  'settings',
  'shutdown',
  'sources',
  'tracer',
]);

/** Metrics are not counted, because they are sent later and nothing depends on them. */
const UNCOUNTED = 'metrics.';

/** A process that dies at the calls of a plan. */
interface PlannedCrash {
  readonly plan: CrashPlan;
  /** Called at the moment of death. */
  readonly onDeath: () => void;
}

/** @param seed different for each process, because owners of leases must differ */
export function mortal(base: EngineDeps, seed: number, planned?: PlannedCrash): Mortal {
  let alive = true;
  const shutdown = new AbortController();
  const die = () => {
    planned?.onDeath();
    return never();
  };
  const through = async (label: string, proceed: Proceed) => {
    if (!alive) return never();
    const moment = label.startsWith(UNCOUNTED) ? undefined : planned?.plan.note(label);
    if (moment === 'before') return die();
    const answer = proceed();
    if (moment === 'after') {
      // The caller is dead.
      answer.catch(() => {});
      return die();
    }
    const result = await answer;
    return alive ? result : never();
  };
  const ports = Object.entries(base).filter(([name, port]) => port !== undefined && !OWN.has(name));
  return {
    deps: {
      ...base,
      ...Object.fromEntries(
        ports.map(([name, port]) => [
          name,
          intercept(port as object, ({ method }, proceed) => through(`${name}.${method}`, proceed)),
        ]),
      ),
      ...(planned && { bindings: new Bindings(base.bindings.all.map((one) => swept(one, through))) }),
      clock: {
        now: () => base.clock.now(),
        timer: (delayMs, fire) => base.clock.timer(delayMs, () => alive && fire()),
      },
      random: seededRandomness(seed),
      tracer: base.tracer && mortalTracer(base.tracer, () => alive),
      shutdown: shutdown.signal,
    },
    kill: () => {
      alive = false;
    },
    terminate: () => shutdown.abort(),
  };
}

/** A call of a binding may arrive although the process dies. */
function swept(binding: Binding, through: (label: string, proceed: Proceed) => Promise<unknown>): Binding {
  const { capability, call, lookup } = binding;
  return {
    ...binding,
    call: (...args) => through(`call ${capability.id}`, async () => call(...args)),
    ...(lookup && {
      lookup: (...args) =>
        through(`lookup ${capability.id}`, async () => lookup(...args)) as ReturnType<typeof lookup>,
    }),
  };
}

/** Drops spans that a dead process had not reported. */
function mortalTracer(base: Tracer, isAlive: () => boolean): Tracer {
  return {
    decided: (context) => base.decided(context),
    within: (context, work) => base.within(context, work),
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
