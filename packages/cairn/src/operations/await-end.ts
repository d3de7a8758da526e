/** Waits for the end of a run on behalf of a reader. */
import type { Clock } from '../ports/clock.ts';
import type { RunWatch } from '../ports/runs/run-watch.ts';
import { WakeSignal } from './wake-signal.ts';

export interface AwaitEndDeps {
  readonly watch: Pick<RunWatch, 'watchEnd'>;
  readonly clock: Clock;
}

export interface AwaitedEnd {
  readonly runId: string;
  readonly forMs: number;
  /** Ends the wait at once. */
  readonly signal: AbortSignal;
}

/** Resolves when the run has ended, after `forMs`, or when the signal aborts. @throws what the watch has failed with */
export async function awaitEnd(
  { watch, clock }: AwaitEndDeps,
  { runId, forMs, signal }: AwaitedEnd,
): Promise<void> {
  const ended = new WakeSignal(clock);
  let failure: { readonly error: unknown } | undefined;
  const waited = ended.wait(forMs, signal);
  const stop = watch.watchEnd(runId, {
    onEnd: () => ended.notify(),
    onError(error) {
      failure = { error };
      ended.notify();
    },
  });
  await waited;
  stop();
  if (failure) throw failure.error;
}
