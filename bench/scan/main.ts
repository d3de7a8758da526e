/**
 * Measures the time of the scan for 10,000 runs whose tasks are lost, and for one lost task behind 10,000 held runs, against a
 * Firestore server in this process. Fails if the first takes two minutes or the second one minute.
 *
 *     node bench/scan/main.ts [runs]
 */
import { fileURLToPath } from 'node:url';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { type Overdue, overdue } from './overdue.ts';

const RUNS = Number(process.argv[2] ?? 10_000);
const ALL_WITHIN_MS = 120_000;
const OTHER_WITHIN_MS = 60_000;
/** Between the beginnings of two ticks. */
const MINUTE_MS = 60_000;
const indexes = fileURLToPath(new URL('../../firestore.indexes.json', import.meta.url));

interface Measured {
  /** From the first tick until nothing was left, with the waits between ticks. */
  readonly ms: number;
  readonly ticks: number;
  readonly handled: number;
  readonly enqueued: number;
  readonly held: number;
  readonly reads: number;
  readonly writes: number;
}

/** Ticks once a minute until nothing is left. The installation's clock runs meanwhile, so that a tick ends when its time is up. */
async function ticks({ deps, meter }: Overdue): Promise<Measured> {
  const before = meter.snapshot().total;
  const startedAt = performance.now();
  const done = { ticks: 0, handled: 0, enqueued: 0, held: 0 };
  let waited = 0;
  const elapsed = () => performance.now() - startedAt + waited;
  const begunAt = deps.clock.now();
  const clock = { ...deps.clock, now: () => begunAt + elapsed(), timer: deps.clock.timer.bind(deps.clock) };
  for (;;) {
    const tickedAt = elapsed();
    const report = await scan({ ...deps, clock });
    done.ticks += 1;
    done.handled += report.enqueued + report.held;
    done.enqueued += report.enqueued;
    done.held += report.held;
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

const lost = await overdue(indexes);
await lost.start('many', RUNS);
lost.pass();
const all = await ticks(lost);
process.stdout.write(`${JSON.stringify({ lost: all })}\n`);
await lost.close();

const held = await overdue(indexes);
await held.start('many', RUNS);
const [other] = await held.start('other', 1);
held.pass();
await held.pause('many');
const began = performance.now();
let otherMs = Number.POSITIVE_INFINITY;
const { enqueue } = held.deps.queue;
const queue: typeof held.deps.queue = {
  async enqueue(task) {
    if (task.runId === other) otherMs = Math.round(performance.now() - began);
    return enqueue(task);
  },
};
const behind = await ticks({ ...held, deps: { ...held.deps, queue } });
process.stdout.write(`${JSON.stringify({ held: { otherMs, ...behind } })}\n`);
await held.close();
if (all.ms >= ALL_WITHIN_MS || otherMs >= OTHER_WITHIN_MS) process.exitCode = 1;
