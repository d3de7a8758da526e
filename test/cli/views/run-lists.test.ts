import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Outside } from '../../support/outside.ts';
import { Stage } from '../support/stage.ts';

const night = defineWorkflow({
  type: 'night',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ slept: step.sleep('sleep', { for: '8h' }) }),
});
const HOUR_MS = 3_600_000;

/** A stage with one run that sleeps. */
async function sleeping(): Promise<{ stage: Stage; id: string }> {
  const stage = new Stage([night]);
  const { out } = await stage.cairn(['runs', 'start', 'night']);
  const { runs } = stage.installation.world.db;
  await stage.driveUntil(() => [...runs.values()].every(({ snapshot }) => snapshot.waits.length > 0));
  return { stage, id: out.trim() };
}

/** The cells of the row of the run. */
async function rowOf(stage: Stage, id: string, now?: number): Promise<string[] | undefined> {
  const { out, code } = await stage.cairn(['runs', 'list'], now === undefined ? {} : { now });
  expect(code).toBe(0);
  return out
    .split('\n')
    .find((line) => line.startsWith(id))
    ?.split(/ {2,}/);
}

test('a list shows that a run without its deployed version is blocked, and on what', async () => {
  const { stage, id } = await sleeping();
  expect(await rowOf(stage, id)).toEqual(expect.arrayContaining(['waiting_external', 'sleep (timer)']));
  stage.installation.world.clock.jump(9 * HOUR_MS);
  stage.deploy([]);
  const blocked = await rowOf(stage, id);
  expect(blocked).toEqual(expect.arrayContaining(['waiting_external (blocked)', 'PLAN_VERSION_UNAVAILABLE']));
  stage.deploy([night]);
  expect(await rowOf(stage, id)).toEqual(
    expect.arrayContaining(['waiting_external (blocked)', 'DISPATCH_DUE']),
  );
});

test('a list shows that a run asks about a side effect, not for an approval', async () => {
  const outside = new Outside();
  const { capability, binding } = outside;
  outside.faults.push('lose_answer');
  const post = defineWorkflow({
    type: 'post',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      sent: step('send', { uses: [capability] }, ({ perform }) => perform(capability, { text: 'hello' })),
    }),
  });
  const stage = new Stage([post], [binding]);
  const { out } = await stage.cairn(['runs', 'start', 'post']);
  await stage.drive();
  expect(await rowOf(stage, out.trim())).toContain('send (side effect)');
});

test('relative times use the clock of the API', async () => {
  const { stage, id } = await sleeping();
  const { clock } = stage.installation.world;
  clock.jump(2 * HOUR_MS);
  for (const behindMs of [0, 2 * HOUR_MS, -48 * HOUR_MS]) {
    expect(await rowOf(stage, id, clock.now() - behindMs)).toContain('2 h ago');
    expect(await rowOf(stage, id, clock.now() - behindMs)).toContain('2 h so far');
    const page = await stage.cairn(['runs', 'show', id], { now: clock.now() - behindMs });
    expect(page.out).toMatch(/created .* \(2 h ago\)/);
  }
});
