import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { residentMib } from '../../../packages/local/src/host/workers/resident.ts';
import { Watchdog } from '../../../packages/local/src/host/workers/watchdog.ts';

const TICK_MS = 500;

/** A worker that sends neither heartbeats nor answers, and records its signals. */
function worker(pid: number, memoryLimitMib = 2_048) {
  const signals: string[] = [];
  let silentMs = 0;
  let unansweredMs = 0;
  return {
    pid,
    memoryLimitMib,
    signals,
    get isKilled() {
      return signals.length > 0;
    },
    silentFor: (tickMs: number) => (silentMs += tickMs),
    unansweredFor: (tickMs: number) => (unansweredMs += tickMs),
    kill: (signal: string) => void signals.push(signal),
  };
}

function watchdog({
  watchdogMs = 90_000,
  used = {},
}: {
  watchdogMs?: number;
  used?: Record<number, number>;
}) {
  const lines: string[] = [];
  const memoryOf = async (pids: readonly number[]) => new Map(pids.map((pid) => [pid, used[pid] ?? 100]));
  const log = (line: string) => void lines.push(line);
  return { lines, watchdog: new Watchdog({ watchdogMs, tickMs: TICK_MS, log, memoryOf }) };
}

test('a worker that uses more memory than its limit is killed once, and others are not', async () => {
  const [full, large, small] = [worker(1), worker(2, 8_192), worker(3)];
  const { watchdog: dog, lines } = watchdog({ used: { 1: 2_100.4, 2: 8_000 } });
  for (let check = 0; check < 3; check += 1) {
    dog.check(new Set([full, large, small]));
    await turn();
  }
  expect([full, large, small].map(({ signals }) => signals)).toEqual([['SIGKILL'], [], []]);
  expect(lines).toEqual([
    "worker 1 uses 2100 MiB of memory, more than 2048, and is killed. Functions that need more declare it as 'memory'",
  ]);
});

test('an unresponsive worker is killed once after the watchdog time', () => {
  const silent = worker(1);
  const { watchdog: dog, lines } = watchdog({ watchdogMs: 2 * TICK_MS });
  dog.check(new Set([silent]));
  expect(silent.signals).toEqual([]);
  for (let check = 0; check < 5; check += 1) dog.check(new Set([silent]));
  expect(silent.signals).toEqual(['SIGKILL']);
  expect(lines).toEqual(['worker 1 sent no heartbeat for 1 s and is killed']);
});

test('a worker that sends heartbeats and answers nothing is killed once after ten seconds', () => {
  const broken = Object.assign(worker(1), { silentFor: () => 0 });
  const sound = Object.assign(worker(2), { silentFor: () => 0, unansweredFor: () => TICK_MS });
  const { watchdog: dog, lines } = watchdog({});
  const check = () => dog.check(new Set([broken, sound]));
  for (let ms = TICK_MS; ms < 10_000; ms += TICK_MS) check();
  expect(lines).toEqual([]);
  check();
  check();
  expect([broken.signals, sound.signals]).toEqual([['SIGKILL'], []]);
  expect(lines).toEqual([expect.stringMatching(/^worker 1 answered no request for 10 s and is killed\./)]);
});

test('the memory of processes is that of the operating system, without ended ones', async () => {
  const before = process.memoryUsage.rss() / 2 ** 20;
  const sizes = await residentMib([process.pid, 2 ** 22 + 1]);
  expect([...sizes.keys()]).toEqual([process.pid]);
  expect(sizes.get(process.pid)).toBeGreaterThan(before / 2);
  expect(sizes.get(process.pid)).toBeLessThan(before * 2);
});
