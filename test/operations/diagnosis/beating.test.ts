import { beforeEach, expect, test } from '@jest/globals';
import { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { type BeatingDeps, beating } from '../../../packages/cairn/src/operations/diagnosis/beating.ts';
import { CollectedLog } from '../../../packages/cairn/src/testing/world/collected-log.ts';
import { VirtualClock } from '../../../packages/cairn/src/testing/world/virtual-clock.ts';
import { MemoryHeartbeatStore } from '../../support/memory/memory-heartbeat-store.ts';

let clock: VirtualClock;
let deps: BeatingDeps;
let log: CollectedLog;
const beats = async () => (await deps.heartbeats.read()).beats;

beforeEach(() => {
  clock = new VirtualClock();
  log = new CollectedLog(clock);
  deps = {
    heartbeats: new MemoryHeartbeatStore(new MemoryDatabase(clock)),
    clock,
    log,
    installation: 'europe-west1/drive',
  };
});

test('a function that ends notes when, how long it took, and what it found', async () => {
  await beating(deps, 'checkRuns', async () => {
    clock.jump(250);
    return { found: { checked: 3, problems: { JOURNAL_GAP: 1 } } };
  });
  await beating(deps, 'recoverRuns', async () => ({ off: true }));
  const at = clock.now();
  expect(await beats()).toEqual({
    checkRuns: { at, tookMs: 250, outcome: 'done' },
    found: { at, checked: 3, problems: { JOURNAL_GAP: 1 } },
    recoverRuns: { at, tookMs: 0, outcome: 'off' },
    installations: { 'europe-west1/drive': at },
  });
});

test('one that fails notes why in a sentence, and still fails', async () => {
  const failing = beating(deps, 'recoverRuns', () => Promise.reject(new Error('x'.repeat(5_000))));
  await expect(failing).rejects.toThrow('xxx');
  const { recoverRuns } = await beats();
  expect(recoverRuns).toMatchObject({ outcome: 'failed', error: 'x'.repeat(300) });
});

test('a sign that cannot be written is logged, and changes nothing for the function', async () => {
  const deaf = {
    ...deps,
    heartbeats: {
      read: () => deps.heartbeats.read(),
      beat: () => Promise.reject(new Error('no store')),
    },
  };
  await beating(deaf, 'fireSchedules', async () => ({}));
  await expect(beating(deaf, 'fireSchedules', () => Promise.reject(new Error('its own')))).rejects.toThrow(
    'its own',
  );
  expect(log.lines.map(({ level, event }) => `${level} ${event}`)).toEqual([
    'warn heartbeat_not_noted',
    'warn heartbeat_not_noted',
  ]);
});
