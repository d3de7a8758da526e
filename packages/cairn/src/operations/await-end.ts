/** Waits for the end of a run on behalf of a reader. */
import type { Clock } from '../ports/clock.ts';
import type { LoadedRun } from '../ports/run-store.ts';
import type { RunWatch } from '../ports/runs/run-watch.ts';
import { WakeSignal } from './wake-signal.ts';

export interface AwaitEndDeps {
  readonly watch: Pick<RunWatch, 'watchEnd'>;
  readonly clock: Clock;
}

export interface AwaitedEnd {
  readonly runId: string;
  readonly tenantId: string;
  readonly forMs: number;
  /** Ends the wait at once. */
  readonly signal: AbortSignal;
}

/** `none`: the tenant has no such run. `unknown`: the run is to be read, since the wait is over or the watch has only told of its end. */
export type AwaitEndResult = LoadedRun | 'none' | 'unknown';

/** Resolves when the run has ended, after `forMs`, or when the signal aborts. @throws what the watch has failed with */
export async function awaitEnd(
  { watch, clock }: AwaitEndDeps,
  { runId, tenantId, forMs, signal }: AwaitedEnd,
): Promise<AwaitEndResult> {
  const told = new WakeSignal(clock);
  let result: AwaitEndResult = 'unknown';
  let failure: { readonly error: unknown } | undefined;
  const waited = told.wait(forMs, signal);
  const stop = watch.watchEnd(runId, {
    onFound(run) {
      if (run?.tenantId === tenantId) return;
      result = 'none';
      told.notify();
    },
    onEnd(run) {
      if (result === 'unknown') result = run ?? 'unknown';
      told.notify();
    },
    onError(error) {
      failure = { error };
      told.notify();
    },
  });
  await waited;
  stop();
  if (failure) throw failure.error;
  return result;
}
