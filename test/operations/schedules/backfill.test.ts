import { describe, expect, test } from '@jest/globals';
import { backfillSchedule } from '../../../packages/cairn/src/operations/schedules/backfill-schedule.ts';
import { assertStored } from '../../support/soundness.ts';
import { NEWER } from '../../support/world.ts';
import { MINUTE, Scene, stored, T0, TENANT } from './scene.ts';

const CALLERS = 5;
const SLOTS = 12;
/** Too large for a checkpoint. */
const LARGE = 'x'.repeat(300_000);

/** An hour of slots, backfilled by several callers concurrently. */
async function fillAtOnce(text: string) {
  const scene = new Scene();
  await scene.deps.schedules.create(stored({ input: { text } }));
  scene.goTo(60);
  const request = { id: 'sch_1', tenantId: TENANT, from: T0 + MINUTE, until: T0 + 60 * MINUTE };
  const filled = await Promise.all(
    Array.from({ length: CALLERS }, () => backfillSchedule(scene.deps, { ...request, isDryRun: false })),
  );
  return { scene, filled };
}

describe('concurrent backfills', () => {
  test.each([
    ['a small', 'hello'],
    ['a large', LARGE],
  ])(
    'start each slot once between them, and each caller learns which ones it started (%s input)',
    async (_, text) => {
      const { scene, filled } = await fillAtOnce(text);
      const sum = (name: 'started' | 'existing') => filled.reduce((total, one) => total + one[name], 0);
      expect([sum('started'), sum('existing')]).toEqual([SLOTS, (CALLERS - 1) * SLOTS]);
      // One task for each run: a caller that lost the race enqueues nothing.
      expect(scene.world.queue.pending).toHaveLength(SLOTS);
      await scene.world.run();
      const { db } = scene.world;
      expect([...db.runs.keys()].map((runId) => assertStored(db, runId).status)).toEqual(
        Array.from({ length: SLOTS }, () => 'completed'),
      );
    },
  );
});

test('a backfill starts the other slots if a newer version wrote the run of one, which has its run', async () => {
  const scene = new Scene();
  await scene.deps.schedules.create(stored({}));
  scene.goTo(60);
  const request = { id: 'sch_1', tenantId: TENANT, from: T0 + MINUTE, isDryRun: false };
  await backfillSchedule(scene.deps, { ...request, until: T0 + 10 * MINUTE });
  const [, newer = ''] = scene.world.db.runs.keys();
  const { snapshot } = scene.world.db.runs.get(newer) ?? {};
  scene.world.writtenBy(newer, NEWER);
  const filled = await backfillSchedule(scene.deps, { ...request, until: T0 + 60 * MINUTE });
  expect(filled).toEqual({ slots: SLOTS, started: SLOTS - 2, existing: 2 });
  expect(scene.world.db.runs.size).toBe(SLOTS);
  expect(scene.world.db.runs.get(newer)?.snapshot).toEqual({ ...snapshot, schemaVersion: NEWER });
});

test('a range with too many slots is refused with the end up to which it is accepted', async () => {
  const scene = new Scene();
  await scene.deps.schedules.create(stored({}));
  scene.goTo(10_000);
  const request = { id: 'sch_1', tenantId: TENANT, from: T0, isDryRun: true };
  const refused = backfillSchedule(scene.deps, { ...request, until: T0 + 10_000 * MINUTE });
  const message = await refused.catch((error: Error) => error.message);
  expect(message).toMatch(/^to is too late: the range has more than 1,000 slots; up to \S+ it has 1,000$/);
  const until = Date.parse(/up to (\S+)/.exec(String(message))?.[1] ?? '');
  expect(await backfillSchedule(scene.deps, { ...request, until })).toMatchObject({ slots: 1_000 });
});
