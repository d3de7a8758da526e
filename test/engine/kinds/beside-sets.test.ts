import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

test('sets and waits take no room of bodies: steps that are ready behind a set begin in the same dispatch', async () => {
  const visit = defineWorkflow({
    type: 'visit',
    planVersion: 1,
    input: z.object({ for: z.string() }),
    steps: (step) => ({ stay: step.sleep('stay', { for: ({ input }) => input.for }) }),
  });
  const tour = defineWorkflow({
    type: 'tour',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const visits = step.child('visits', {
        workflow: visit,
        over: () => [1, 2],
        input: () => ({ for: '2h' }),
      });
      // Its end is appended while nobody drives the run, so the next dispatch finds the set and `later` ready at once.
      const short = step.child('short', { workflow: visit, input: () => ({ for: '10m' }) });
      const later = step.sleep('later', { needs: { short }, for: '30m' });
      return { visits, later };
    },
  });
  // One body at a time, as in a run that is dispatched alone.
  const world = new World({ workflows: [visit, tour], settings: { concurrentSteps: 1 } });
  const runId = await world.start('tour');
  await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'completed');
  const { steps } = assertStored(world.db, runId);
  expect(steps.get('later')).toMatchObject({ outcome: 'succeeded' });
  const { events = [] } = world.db.runs.get(runId) ?? {};
  expect(events.filter(({ type }) => type === 'run_released')).toEqual([]);
});
