import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { isTerminal, RUN_STATUSES } from '../../../packages/cairn/src/core/run/status.ts';
import {
  CONFIG_AGE_MS,
  DEFER_MS,
  deferRun,
  mayContinue,
  mayDrive,
  pausedBy,
} from '../../../packages/cairn/src/engine/admission.ts';
import { CachedRuntimeConfig } from '../../../packages/cairn/src/engine/cached-runtime-config.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { NOTHING_SET, type RuntimeConfig } from '../../../packages/cairn/src/ports/runtime-config.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../support/intercept.ts';
import { SILENT, World } from '../../support/world.ts';

const KILLED: RuntimeConfig = { killSwitch: true, paused: new Map() };
const PAUSED: RuntimeConfig = { killSwitch: false, paused: new Map([['nap', { since: 1, by: 'c.ops' }]]) };

const nap = defineWorkflow({
  type: 'nap',
  planVersion: 1,
  input: z.object({ for: z.string().default('10m') }),
  steps: (step) => ({ slept: step.sleep('sleep', { for: ({ input }) => input.for }) }),
});

describe('admission', () => {
  test('is given to every run by default', () => {
    for (const status of RUN_STATUSES) {
      expect(pausedBy(NOTHING_SET, { type: 'constructor', status })).toBeUndefined();
    }
  });

  test('is refused to every run under the kill switch', () => {
    for (const status of RUN_STATUSES) expect(pausedBy(KILLED, { type: 'nap', status })).toBe('kill_switch');
  });

  test('is refused to the runs of a paused workflow until they have ended, and to no other run', () => {
    for (const status of RUN_STATUSES) {
      expect(pausedBy(PAUSED, { type: 'nap', status })).toBe(isTerminal(status) ? undefined : 'paused');
      expect(pausedBy(PAUSED, { type: 'naps', status })).toBeUndefined();
      // The parts of its loops are work of the workflow too.
      expect(pausedBy(PAUSED, { type: 'nap.pages', status })).toBe(isTerminal(status) ? undefined : 'paused');
    }
  });
});

describe('the configuration cached by a process', () => {
  let world: World;
  let reads: number;
  let runtime: CachedRuntimeConfig;
  const run = { type: 'nap', status: 'running' } as const;
  beforeEach(() => {
    world = new World({ workflows: [nap] });
    reads = 0;
    const counted = intercept(world.config, ({ method }, proceed) => {
      if (method === 'read') reads += 1;
      return proceed();
    });
    runtime = new CachedRuntimeConfig(counted, world.clock);
  });

  test('is read once for all callers within a few seconds', async () => {
    const open = await Promise.all(Array.from({ length: 50 }, () => mayDrive({ runtime }, run)));
    expect(open).toEqual(Array.from({ length: 50 }, () => true));
    world.clock.jump(CONFIG_AGE_MS - 1);
    expect(await mayDrive({ runtime }, run)).toBe(true);
    expect(reads).toBe(1);
    world.clock.jump(1);
    expect(await mayDrive({ runtime }, run)).toBe(true);
    expect(reads).toBe(2);
  });

  test('may admit runs for that long after a switch is thrown, and not longer', async () => {
    expect(await mayDrive({ runtime }, run)).toBe(true);
    await world.config.write(KILLED, undefined);
    world.clock.jump(CONFIG_AGE_MS - 1);
    expect(await mayDrive({ runtime }, run)).toBe(true);
    world.clock.jump(1);
    expect(await mayDrive({ runtime }, run)).toBe(false);
  });

  test('refuses no run after the switch was reset, which would delay a run by minutes', async () => {
    const written = await world.config.write(PAUSED, undefined);
    if (written.kind !== 'written') throw new Error('stale');
    expect(await mayDrive({ runtime }, run)).toBe(false);
    await world.config.write(NOTHING_SET, written.version);
    expect(await mayDrive({ runtime }, run)).toBe(true);
  });

  test('is read again when the clock was set back', async () => {
    await mayDrive({ runtime }, run);
    await world.config.write(KILLED, undefined);
    world.clock.jump(-3_600_000);
    expect(await mayDrive({ runtime }, run)).toBe(false);
  });

  test('has no default: a failed read stops new drives but not running ones, and is repeated', async () => {
    let fails = true;
    const failing = intercept(world.config, (_call, proceed) =>
      fails ? Promise.reject(new OutcomeUnknown('read', 'gone')) : proceed(),
    );
    runtime = new CachedRuntimeConfig(failing, world.clock);
    await expect(mayDrive({ runtime }, run)).rejects.toThrow(OutcomeUnknown);
    const warned: string[] = [];
    const log = { ...SILENT, warn: (event: string) => void warned.push(event) };
    expect(await mayContinue({ runtime, log }, run)).toBe(true);
    expect(warned).toEqual(['runtime_config_unread']);
    fails = false;
    await world.config.write(KILLED, undefined);
    expect(await mayDrive({ runtime }, run)).toBe(false);
    expect(await mayContinue({ runtime, log }, run)).toBe(false);
  });
});

describe('a paused run', () => {
  async function aside(
    world: World,
    runId: string,
  ): Promise<{ before: number | undefined; after: number | undefined }> {
    const before = world.db.runs.get(runId)?.wakeAt;
    const loaded = await world.store.load(runId);
    if (!loaded) throw new Error('no such run');
    await deferRun(world.deps, loaded);
    return { before, after: world.db.runs.get(runId)?.wakeAt };
  }

  test('is due again within five minutes, spread over time, and nothing is appended', async () => {
    const world = new World({ workflows: [nap] });
    const times = new Set<number>();
    for (let i = 0; i < 20; i += 1) {
      const runId = await world.start('nap');
      const { after = 0 } = await aside(world, runId);
      times.add(after - world.clock.now());
      expect(await world.eventTypes(runId)).toEqual(['run_created']);
    }
    expect(Math.min(...times)).toBeGreaterThanOrEqual(0.8 * DEFER_MS);
    expect(Math.max(...times)).toBeLessThanOrEqual(DEFER_MS);
    expect(times.size).toBeGreaterThan(15);
  });

  test('keeps its own time if that is later', async () => {
    const world = new World({ workflows: [nap] });
    const runId = await world.start('nap', { for: '2h' });
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'waiting_external');
    const { before, after } = await aside(world, runId);
    expect(after).toBe(before);
    expect(after).toBeGreaterThan(world.clock.now() + DEFER_MS);
  });

  test('that has ended gets no new time', async () => {
    const world = new World({ workflows: [nap] });
    const runId = await world.start('nap');
    await world.run();
    expect(await aside(world, runId)).toEqual({ before: undefined, after: undefined });
  });

  test('that was changed meanwhile keeps the time of that change', async () => {
    const world = new World({ workflows: [nap] });
    const runId = await world.start('nap');
    const loaded = await world.store.load(runId);
    if (!loaded) throw new Error('no such run');
    const wakeAt = world.clock.now() + 7;
    await world.store.touch({ runId, seen: loaded.snapshotVersion, wakeAt });
    await deferRun(world.deps, loaded);
    expect(world.db.runs.get(runId)?.wakeAt).toBe(wakeAt);
  });

  test('is not deferred under a live drive', async () => {
    const world = new World({ workflows: [nap] });
    const runId = await world.start('nap');
    const loaded = await world.store.load(runId);
    if (!loaded) throw new Error('no such run');
    const lease = { owner: 'o', epoch: 1, expiresAt: world.clock.now() + 1_000 };
    const held = { ...loaded, state: { ...loaded.state, status: 'running' as const, lease } };
    await deferRun(world.deps, held);
    expect(world.db.runs.get(runId)?.version).toBe(loaded.snapshotVersion);
  });
});
