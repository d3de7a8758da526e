import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { OVERDUE_MS, type Overdue, overdue } from '../../../bench/scan/overdue.ts';
import { SCAN_MS } from '../../../packages/cairn/src/core/recovery/scan-order.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { intercept } from '../../support/intercept.ts';

const INDEXES = fileURLToPath(new URL('../../../firestore.indexes.json', import.meta.url));
const PAGE = 50;
/** `npm run soak` scans 600. */
const RUNS = Number(process.env.SCAN_RUNS ?? 100);
/** Empty queries of every tick: for runs of more shards, and for silent runs, running and replaying. */
const LOOKS = 3;

/** Firestore in this process, as it would bill; `npm run bench:scan` shows the same with 10,000 runs. */
describe('a tick of the scan', () => {
  let installation: Overdue;
  beforeEach(async () => {
    installation = await overdue(INDEXES);
  });
  afterEach(() => installation.close());

  async function billed(work: () => Promise<unknown>): Promise<{ reads: number; writes: number }> {
    const before = installation.meter.snapshot().total;
    await work();
    const after = installation.meter.snapshot().total;
    return { reads: after.reads - before.reads, writes: after.writes - before.writes };
  }

  test(`enqueues ${RUNS} runs whose tasks are lost, page after page, each once`, async () => {
    const started = await installation.start('many', RUNS);
    installation.pass();
    const { reads, writes } = await billed(async () => {
      expect(await scan(installation.deps, PAGE)).toMatchObject({
        found: RUNS,
        enqueued: RUNS,
        isCut: false,
      });
    });
    expect([...installation.enqueued].sort()).toEqual([...started].sort());
    // Reads: the entry and the document of each run, and the empty page after the last full one. Writes: runs that have long
    // been ready are deferred again once they have their tasks.
    expect({ reads, writes }).toEqual({ reads: 2 * RUNS + 1 + LOOKS, writes: 2 * RUNS });
    expect(await scan(installation.deps, PAGE)).toMatchObject({ found: 0 });
  });

  test(`enqueues a lost task before it defers ${RUNS} older held runs`, async () => {
    await installation.start('many', RUNS);
    installation.pass();
    const [other] = await installation.start('other', 1);
    installation.pass();
    await installation.pause('many');
    let putAside = 0;
    let before: number | undefined;
    const store = intercept(installation.deps.store, ({ method, args }, proceed) => {
      if (method === 'touch') {
        const { runId } = args[0] as { runId: string };
        if (runId === other) before ??= putAside;
        else putAside += 1;
      }
      return proceed();
    });
    const { reads, writes } = await billed(async () => {
      expect(await scan({ ...installation.deps, store }, PAGE)).toMatchObject({
        deferred: RUNS,
        enqueued: 1,
        isCut: false,
      });
    });
    expect(installation.enqueued).toEqual([other]);
    expect({ before, putAside }).toEqual({ before: 0, putAside: RUNS });
    // A held run costs its entry and one write.
    expect({ reads, writes }).toEqual({ reads: RUNS + 1 + 1 + LOOKS, writes: RUNS + 2 });
    expect(await scan(installation.deps, PAGE)).toMatchObject({ found: 0 });
  });

  test('ends when its time is up, and the next one continues', async () => {
    const started = await installation.start('many', 120);
    installation.pass();
    // Each answer of the store takes so long that a tick handles some 60 runs.
    const { clock, store } = installation.deps;
    let spent = 0;
    const slow = intercept(store, ({ method }, proceed) => {
      if (method === 'load') spent += SCAN_MS / 60;
      return proceed();
    });
    const running = { now: () => clock.now() + spent, timer: clock.timer.bind(clock) };
    const deps = { ...installation.deps, store: slow, clock: running };
    const first = await scan(deps, PAGE);
    expect(first.isCut).toBe(true);
    expect(first.enqueued).toBeLessThan(120);
    for (let ticks = 0; installation.enqueued.length < 120 && ticks < 20; ticks += 1) {
      spent += OVERDUE_MS;
      await scan(deps, PAGE);
    }
    expect(new Set(installation.enqueued)).toEqual(new Set(started));
  });

  test('ends when the kill switch is set meanwhile', async () => {
    await installation.start('many', 120);
    installation.pass();
    const { runtime } = installation.deps;
    let looks = 0;
    const thrown: typeof runtime = {
      current: async (age) => {
        looks += 1;
        const config = await runtime.current(age);
        return looks > 1 ? { ...config, killSwitch: true } : config;
      },
    };
    const report = await scan({ ...installation.deps, runtime: thrown }, PAGE);
    // Runs under way when the second page was asked for are handled.
    expect(report.enqueued).toBeLessThan(120);
    expect(report.isCut).toBe(true);
  });
});
