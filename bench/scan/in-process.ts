/**
 * Measures the scan alone, against a Firestore server in this process, until every run is enqueued: its duration and its store
 * operations.
 */
import { fileURLToPath } from 'node:url';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { type Overdue, overdue } from './overdue.ts';
import { MANY, OTHER } from './workflows.ts';

/** Interval of ticks. */
const MINUTE_MS = 60_000;
const indexes = fileURLToPath(new URL('../../firestore.indexes.json', import.meta.url));

interface Measured {
  /** From the first tick until no run was left, including the waits between ticks. */
  readonly ms: number;
  readonly ticks: number;
  readonly handled: number;
  readonly enqueued: number;
  readonly deferred: number;
  readonly reads: number;
  readonly writes: number;
}

/** Ticks once a minute until no run is left. The installation's clock advances, so that a tick ends when its time is up. */
async function ticks({ deps, meter }: Overdue): Promise<Measured> {
  const before = meter.snapshot().total;
  const startedAt = performance.now();
  const done = { ticks: 0, handled: 0, enqueued: 0, deferred: 0 };
  let waited = 0;
  const elapsed = () => performance.now() - startedAt + waited;
  const begunAt = deps.clock.now();
  const clock = { ...deps.clock, now: () => begunAt + elapsed(), timer: deps.clock.timer.bind(deps.clock) };
  for (;;) {
    const tickedAt = elapsed();
    const report = await scan({ ...deps, clock });
    done.ticks += 1;
    done.handled += report.enqueued + report.deferred;
    done.enqueued += report.enqueued;
    done.deferred += report.deferred;
    if (!report.isCut) break;
    waited += Math.max(0, MINUTE_MS - (elapsed() - tickedAt));
  }
  const { reads, writes } = meter.snapshot().total;
  return {
    ms: Math.round(elapsed()),
    ...done,
    reads: reads - before.reads,
    writes: writes - before.writes,
  };
}

/** Runs without tasks that can all continue. */
export async function lostInProcess(runs: number): Promise<Measured> {
  const lost = await overdue(indexes);
  await lost.start(MANY, runs);
  lost.pass();
  const all = await ticks(lost);
  await lost.close();
  return all;
}

/** Runs without tasks of a paused workflow, and after them one run of another workflow. */
export async function pausedInProcess(runs: number): Promise<Measured & { readonly otherMs: number }> {
  const paused = await overdue(indexes);
  await paused.start(MANY, runs);
  const [other] = await paused.start(OTHER, 1);
  paused.pass();
  await paused.pause(MANY);
  const began = performance.now();
  let otherMs = Number.POSITIVE_INFINITY;
  const { enqueue } = paused.deps.queue;
  const queue: typeof paused.deps.queue = {
    async enqueue(task) {
      if (task.runId === other) otherMs = Math.round(performance.now() - began);
      return enqueue(task);
    },
  };
  const behind = await ticks({ ...paused, deps: { ...paused.deps, queue } });
  await paused.close();
  return { otherMs, ...behind };
}
