/** A receiver that never answers. The number of answers by people bounds what its runs write. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import { Outside } from '../../support/outside.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { eventsOf } from './stage.ts';

/** Number of sets, whose questions do not all fit among the open waits. */
const SETS = 2;
const ITEMS = 270;
/** Long names make long questions. */
const NAME = 'x'.repeat(80);
const DAY_MS = 24 * 3_600_000;

function sendingSets({ capability }: Outside) {
  return defineWorkflow({
    type: 'crowd',
    planVersion: 1,
    input: z.object({}),
    steps: (step) =>
      Object.fromEntries(
        Array.from({ length: SETS }, (_, n) => [
          `s${n}`,
          step.map(
            `${NAME}-${n}`,
            {
              uses: [capability],
              retry: { maxAttempts: 1 },
              concurrency: ITEMS,
              over: () => Array.from({ length: ITEMS }, (_, i) => i),
            },
            ({ perform, item }) => perform(capability, { text: `${n} ${item}` }),
          ),
        ]),
      ),
  });
}

async function fullOfQuestions() {
  const outside = new Outside({ id: `post.${NAME}` });
  outside.onCall = () => {
    throw new Error('the line went dead');
  };
  const world = new World({ workflows: [sendingSets(outside)], bindings: [outside.binding] });
  const id = await world.start('crowd');
  const state = () => world.db.runs.get(id)?.snapshot;
  const untilItRests = () => world.run(() => state()?.status === 'awaiting_approval' || isOver(state()));
  await untilItRests();
  const answer = async (effectId = '') => {
    const tenantId = state()?.tenantId ?? '';
    const said = { outcome: 'recorded', result: { id: 1 }, actor: 'ann' } as const;
    await resolveEffect(world.deps, { runId: id, tenantId, effectId, ...said });
  };
  return {
    outside,
    world,
    answer,
    untilItRests,
    stored: () => assertStored(world.db, id),
    events: () => eventsOf(world, id),
  };
}

function isOver(state: { readonly status: string } | undefined): boolean {
  return state?.status === 'completed' || state?.status === 'failed';
}

test('once no further question fits, a set begins nothing, and nothing is appended until one is answered', async () => {
  const { outside, world, answer, untilItRests, stored, events } = await fullOfQuestions();
  const full = stored();
  expect(full.status).toBe('awaiting_approval');
  const resting = [...full.steps.values()].filter(({ phase }) => phase === 'retrying');
  expect(resting.length).toBeGreaterThan(0);
  expect(resting.length).toBeLessThanOrEqual(world.deps.settings.concurrentSteps);
  expect(outside.calls).toBe(full.waits.length + resting.length);
  expect(outside.calls).toBeLessThan(SETS * ITEMS);

  const head = events().length;
  const until = world.clock.now() + 30 * DAY_MS;
  await world.run(() => world.clock.now() >= until);
  expect(events()).toHaveLength(head);

  const ANSWERS = 8;
  for (const { effectId } of full.waits.slice(0, ANSWERS)) {
    const before = events().length;
    await answer(effectId);
    await untilItRests();
    expect(events().length - before).toBeLessThanOrEqual(12);
  }
  // Only as many executions as now have room ask, and nothing else has begun.
  expect(stored().waits.length).toBeGreaterThan(full.waits.length - ANSWERS);
  expect(outside.calls).toBe(full.waits.length + resting.length);
});

test('when all questions are answered, the run completes, and each item was sent once', async () => {
  const { outside, answer, untilItRests, stored, events } = await fullOfQuestions();
  for (let waits = stored().waits; waits.length > 0; waits = stored().waits) {
    for (const { effectId } of waits) await answer(effectId);
    await untilItRests();
  }
  expect(stored().status).toBe('completed');
  expect(outside.calls).toBe(SETS * ITEMS);
  expect(events().length).toBeLessThan(20 * SETS * ITEMS);
});
