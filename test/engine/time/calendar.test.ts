import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { READY_GRACE_MS } from '../../../packages/cairn/src/core/run/wake.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import {
  CloudTasksQueue,
  type CreateTaskRequest,
} from '../../../packages/cairn/src/queue/cloud-tasks-queue.ts';
import { World } from '../../support/world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Time between the due time and its record: a delivery, a claim, a commit. */
const SLACK_MS = 5_000;

/** One sleep: for a duration, or until a date. */
function sleeper(type: string, options: { for: string } | { until: Date }): Workflow {
  return defineWorkflow({
    type,
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const pause = step.sleep('pause', options);
      return { after: step('after', { needs: { pause } }, () => 'awake') };
    },
  });
}

/** A world whose clock begins at this time. */
function worldAt(iso: string, ...workflows: Workflow[]): World {
  const world = new World({ workflows });
  world.clock.jump(Date.parse(iso) - world.clock.now());
  return world;
}

/** Begins at `iso` and returns when the sleep was over, epoch ms. */
async function wokenUp(iso: string, options: { for: string } | { until: Date }): Promise<number> {
  const world = worldAt(iso, sleeper('nap', options));
  const runId = await world.start('nap');
  await world.run();
  const state = await world.folded(runId);
  expect(state.status).toBe('completed');
  return state.completedAt ?? 0;
}

describe('a sleep longer than the queue can schedule', () => {
  const LIMIT_MS = 30 * DAY;

  /** Delivers by the real adapter into a queue that refuses what the service refuses. */
  function withCloudTasks(world: World): { deps: EngineDeps; hops: number[] } {
    const hops: number[] = [];
    const client = {
      async createTask({ task }: CreateTaskRequest): Promise<void> {
        const { data } = JSON.parse(task.httpRequest.body.toString());
        const { seconds, nanos } = task.scheduleTime ?? { seconds: 0, nanos: 0 };
        const at = seconds * 1_000 + nanos / 1_000_000;
        if (at > world.clock.now() + LIMIT_MS) throw new Error('INVALID_ARGUMENT: too far in the future');
        if (task.scheduleTime) hops.push(at);
        await world.queue.enqueue({
          ...data,
          ...(task.scheduleTime ? { at } : {}),
          ...(task.name === undefined ? {} : { name: task.name }),
        });
      },
    };
    const { clock, random } = world.deps;
    const address = {
      project: 'p',
      location: 'l',
      queues: {
        shared: { name: 'q', targetUrl: 'https://x' },
        alone: { name: 'a', targetUrl: 'https://y' },
      },
      serviceAccountEmail: 's',
    };
    return {
      deps: { ...world.deps, queue: new CloudTasksQueue({ client, clock, random, ...address }) },
      hops,
    };
  }

  test.each([
    ['30d', 2],
    ['95d', 4],
    ['366d', 13],
  ])('%s takes %i hops, which are not in the journal', async (duration, hops) => {
    const world = worldAt('2027-10-01T00:00:00Z', sleeper('nap', { for: duration }));
    const cloud = withCloudTasks(world);
    const runId = await world.start('nap');
    await world.run(undefined, cloud.deps);
    const { status, durationMs = 0 } = await world.folded(runId);
    const wanted = Number.parseInt(duration, 10) * DAY;
    expect(status).toBe('completed');
    expect(durationMs - wanted).toBeGreaterThanOrEqual(0);
    expect(durationMs - wanted).toBeLessThan(SLACK_MS);
    expect(cloud.hops).toHaveLength(hops);
    expect((await world.eventTypes(runId)).filter((type) => type.startsWith('wait_'))).toEqual([
      'wait_opened',
      'wait_resolved',
    ]);
  });

  test('ends in time if a hop is lost, because the scan finds it', async () => {
    const world = worldAt('2027-10-01T00:00:00Z', sleeper('nap', { for: '45d' }));
    const cloud = withCloudTasks(world);
    const began = world.clock.now();
    const runId = await world.start('nap');
    await world.run(() => world.queue.pending.some(({ at }) => at !== undefined), cloud.deps);
    for (const { id } of world.queue.pending) world.queue.take(id);
    await world.run(undefined, cloud.deps);
    const { status, completedAt = 0 } = await world.folded(runId);
    expect(status).toBe('completed');
    // The queue remembers names, so it takes the scan's first task for the lost one. The scan tries again a minute later.
    expect(completedAt - began - 45 * DAY).toBeLessThan(READY_GRACE_MS + SLACK_MS);
  });
});

describe('a sleep lasts its duration across changes of the calendar:', () => {
  test.each([
    ['into the leap day', '2028-02-28T12:00:00Z', '24h', '2028-02-29T12:00:00Z'],
    ['out of the leap day', '2028-02-29T12:00:00Z', '1d', '2028-03-01T12:00:00Z'],
    ['over a February that has none', '2027-02-28T12:00:00Z', '1d', '2027-03-01T12:00:00Z'],
    ['over a century that has none', '2100-02-28T12:00:00Z', '1d', '2100-03-01T12:00:00Z'],
    ['of 365 days through a leap year', '2028-01-01T00:00:00Z', '365d', '2028-12-31T00:00:00Z'],
    ['over the end of a year', '2027-12-31T23:59:59Z', '2s', '2028-01-01T00:00:01Z'],
    ['over the beginning of summer time', '2026-03-29T00:30:00+01:00', '24h', '2026-03-30T01:30:00+02:00'],
    ['over the end of summer time', '2026-10-25T00:30:00+02:00', '24h', '2026-10-25T23:30:00+01:00'],
  ])('%s', async (_, from, duration, to) => {
    const late = (await wokenUp(from, { for: duration })) - Date.parse(to);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(SLACK_MS);
  });
});

describe('a sleep until a date ends at that time', () => {
  test.each([
    ['on the leap day', '2028-02-01T00:00:00Z', '2028-02-29T09:00:00Z', 28 * DAY + 9 * HOUR],
    [
      'at noon, on the day that has 23 hours',
      '2026-03-28T12:00:00+01:00',
      '2026-03-29T12:00:00+02:00',
      23 * HOUR,
    ],
    [
      'at noon, on the day that has 25 hours',
      '2026-10-24T12:00:00+02:00',
      '2026-10-25T12:00:00+01:00',
      25 * HOUR,
    ],
    ['in the repeated hour, the first time', '2026-10-25T01:30:00+02:00', '2026-10-25T02:30:00+02:00', HOUR],
    [
      'in the repeated hour, the second time',
      '2026-10-25T01:30:00+02:00',
      '2026-10-25T02:30:00+01:00',
      2 * HOUR,
    ],
    ['beyond what the queue can plan', '2027-12-01T00:00:00Z', '2028-02-29T00:00:00Z', 90 * DAY],
  ])('%s', async (_, from, until, lasts) => {
    const woke = await wokenUp(from, { until: new Date(until) });
    expect(Date.parse(until) - Date.parse(from)).toBe(lasts);
    expect(woke - Date.parse(until)).toBeGreaterThanOrEqual(0);
    expect(woke - Date.parse(until)).toBeLessThan(SLACK_MS);
  });
});

test('the longest of several sleeps that begin at once decides when the run continues, though one is skipped', async () => {
  const sleeps = defineWorkflow({
    type: 'sleeps',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const month = step.sleep('month', { for: '31d' });
      const day = step.sleep('day', { until: new Date('2028-02-29T00:00:00Z') });
      const none = step.sleep('none', { for: '90d', when: () => false });
      return { after: step('after', { needs: { month, day, none }, ifSkipped: 'run' }, () => 'awake') };
    },
  });
  const world = worldAt('2028-02-28T00:00:00Z', sleeps);
  const runId = await world.start('sleeps');
  await world.run();
  const { status, completedAt = 0 } = await world.folded(runId);
  expect(status).toBe('completed');
  expect(completedAt - Date.parse('2028-03-30T00:00:00Z')).toBeGreaterThanOrEqual(0);
  expect(completedAt - Date.parse('2028-03-30T00:00:00Z')).toBeLessThan(SLACK_MS);
});
