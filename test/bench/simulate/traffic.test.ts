import { expect, test } from '@jest/globals';
import { allOps, rangeWrites, totalOf } from '../../../bench/simulate/traffic/profile.ts';
import { record } from '../../../bench/simulate/traffic/record.ts';

test('a recorded run of three steps has the requests that the engine makes, in order', async () => {
  const profile = await record({ steps: 3, bodyMs: 0, parallel: false });
  expect(profile.start.flatMap(({ writes }) => writes).sort()).toEqual([
    'events',
    'gwi_idempotency',
    'gwi_runs',
  ]);
  expect(profile.dispatches).toHaveLength(1);
  expect(profile.tasks).toBe(1);
  const [dispatch] = profile.dispatches;
  expect(dispatch?.stages.map(({ kind }) => kind)).toEqual([
    'ops',
    'bodies',
    'ops',
    'bodies',
    'ops',
    'bodies',
    'ops',
  ]);
  const commits = allOps(profile).filter(({ kind }) => kind === 'commit');
  // The start, the claim, and three steps, the last with the end.
  expect(commits).toHaveLength(5);
  for (const { writes } of commits.slice(2))
    expect(writes).toEqual(expect.arrayContaining(['events', 'checkpoints', 'steps']));
  expect(profile.overdueMs).toBe(60_000);
  // Each document is deleted, but for the record of the start, which expires.
  expect(profile.deletion.deletes).toBeGreaterThanOrEqual(totalOf(profile).writes - 3);
  // Events and checkpoints are deleted without being read.
  expect(profile.deletion.reads).toBeLessThan(profile.deletion.deletes);
  const hot = rangeWrites(profile);
  expect(hot.get('gwi_runs: shard, status, lastHeartbeatAt')).toEqual({ by: 'shard', writes: 2 });
  expect(hot.get('gwi_runs: shard, wakeAt')).toEqual({ by: 'shard', writes: 2 });
  expect(hot.get('gwi_idempotency: shard, status, expiresAt')).toEqual({ by: 'shard', writes: 1 });
});

test('each step costs the same, and a long body costs heartbeats and checks', async () => {
  const two = totalOf(await record({ steps: 2, bodyMs: 0, parallel: false }));
  const four = totalOf(await record({ steps: 4, bodyMs: 0, parallel: false }));
  expect(four.writes - two.writes).toBe(2 * 3);
  expect(four.reads).toBe(two.reads);
  const long = await record({ steps: 2, bodyMs: 60_000, parallel: false });
  expect(totalOf(long).writes).toBeGreaterThan(two.writes);
  expect(totalOf(long).reads).toBeGreaterThan(two.reads);
  const bodies = long.dispatches.flatMap(({ stages }) => stages.filter((stage) => stage.kind === 'bodies'));
  expect(bodies.map(({ ms }) => ms)).toEqual([60_000, 60_000]);
  for (const { beside } of bodies) expect(beside.length).toBeGreaterThan(0);
});
