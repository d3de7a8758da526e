import { beforeEach, expect, test } from '@jest/globals';
import { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import {
  type HeartbeatDeps,
  withHeartbeat,
} from '../../../packages/cairn/src/operations/diagnosis/with-heartbeat.ts';
import { CollectedLog } from '../../../packages/cairn/src/testing/world/collected-log.ts';
import { VirtualClock } from '../../../packages/cairn/src/testing/world/virtual-clock.ts';
import { MemoryHeartbeatStore } from '../../support/memory/memory-heartbeat-store.ts';

let clock: VirtualClock;
let deps: HeartbeatDeps;
let log: CollectedLog;
const latest = async () => (await deps.heartbeats.read()).latest;

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

test('a scheduled function records when it ran, how long it took, and what it found', async () => {
  await withHeartbeat(deps, 'checkRuns', async () => {
    clock.jump(250);
    return { found: { checked: 3, problems: { JOURNAL_GAP: 1 } } };
  });
  await withHeartbeat(deps, 'recoverRuns', async () => ({ off: true }));
  const at = clock.now();
  expect(await latest()).toEqual({
    checkRuns: { at, tookMs: 250, outcome: 'done' },
    found: { at, checked: 3, problems: { JOURNAL_GAP: 1 } },
    recoverRuns: { at, tookMs: 0, outcome: 'off' },
    installations: { 'europe-west1/drive': at },
  });
});

test('a function that fails records the reason in a sentence, and still fails', async () => {
  const failing = withHeartbeat(deps, 'recoverRuns', () => Promise.reject(new Error('x'.repeat(5_000))));
  await expect(failing).rejects.toThrow('xxx');
  const { recoverRuns } = await latest();
  expect(recoverRuns).toMatchObject({ outcome: 'failed', error: 'x'.repeat(300) });
});

test('a heartbeat that cannot be written is logged, and does not affect the function', async () => {
  const deaf = {
    ...deps,
    heartbeats: {
      read: () => deps.heartbeats.read(),
      record: () => Promise.reject(new Error('no store')),
    },
  };
  await withHeartbeat(deaf, 'fireSchedules', async () => ({}));
  await expect(
    withHeartbeat(deaf, 'fireSchedules', () => Promise.reject(new Error('its own'))),
  ).rejects.toThrow('its own');
  expect(log.lines.map(({ level, event }) => `${level} ${event}`)).toEqual([
    'warn heartbeat_not_noted',
    'warn heartbeat_not_noted',
  ]);
});
