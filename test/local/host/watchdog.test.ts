import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { observe, psListing } from '../../../packages/local/src/host/workers/observed.ts';
import { Watchdog } from '../../../packages/local/src/host/workers/watchdog.ts';
import { signalTo } from '../../support/processes.ts';
import { until } from '../support.ts';

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
  stopped = new Set(),
}: {
  watchdogMs?: number;
  used?: Record<number, number>;
  stopped?: ReadonlySet<number>;
}) {
  const lines: string[] = [];
  const found = async (pids: readonly number[]) =>
    new Map(pids.map((pid) => [pid, { mib: used[pid] ?? 100, isStopped: stopped.has(pid) }]));
  const log = (line: string) => void lines.push(line);
  return { lines, watchdog: new Watchdog({ watchdogMs, tickMs: TICK_MS, log, observe: found }) };
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

test('a stopped worker is killed once after a ninth of the watchdog time, and a blocked one is not', async () => {
  const [stopped, blocked] = [worker(1), worker(2)];
  const { watchdog: dog, lines } = watchdog({ watchdogMs: 18 * TICK_MS, stopped: new Set([1]) });
  const check = async () => {
    dog.check(new Set([stopped, blocked]));
    await turn();
  };
  await check();
  expect(stopped.signals).toEqual([]);
  await check();
  await check();
  expect([stopped.signals, blocked.signals]).toEqual([['SIGKILL'], []]);
  expect(lines).toEqual(['worker 1 has been stopped by a signal for 1 s and is killed']);
});

test('a worker that continues in time is not killed, however often it is stopped', async () => {
  const paused = worker(1);
  const stopped = new Set<number>();
  const { watchdog: dog } = watchdog({ watchdogMs: 18 * TICK_MS, stopped });
  for (let check = 0; check < 10; check += 1) {
    if (check % 2 === 0) stopped.add(1);
    else stopped.delete(1);
    dog.check(new Set([paused]));
    await turn();
  }
  expect(paused.signals).toEqual([]);
});

test('the memory of processes is that of the operating system, without ended ones', async () => {
  const before = process.memoryUsage.rss() / 2 ** 20;
  const found = await observe([process.pid, 2 ** 22 + 1]);
  expect([...found.keys()]).toEqual([process.pid]);
  expect(found.get(process.pid)?.mib).toBeGreaterThan(before / 2);
  expect(found.get(process.pid)?.mib).toBeLessThan(before * 2);
});

test('the operating system tells whether a process is stopped', async () => {
  const child = spawn('sleep', ['3600'], { stdio: 'ignore' });
  try {
    await once(child, 'spawn');
    const { pid = 0 } = child;
    const isStopped = async () => (await observe([pid])).get(pid)?.isStopped === true;
    expect(await isStopped()).toBe(false);
    signalTo(pid, 'SIGSTOP');
    await until(isStopped, 'the stop');
    signalTo(pid, 'SIGCONT');
    await until(async () => !(await isStopped()), 'the continuation');
  } finally {
    child.kill('SIGKILL');
  }
});

test('a listing of ps distinguishes stopped processes from those that a debugger stopped', () => {
  expect(psListing('   11  2048 S+\n  12  1024 T\n 13 512 TX\n 14 512 t\n')).toEqual([
    [11, { mib: 2, isStopped: false }],
    [12, { mib: 1, isStopped: true }],
    [13, { mib: 0.5, isStopped: false }],
    [14, { mib: 0.5, isStopped: false }],
  ]);
});
