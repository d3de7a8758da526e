import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

function asking(questions: number, chars: number) {
  return defineWorkflow({
    type: 'asking',
    planVersion: 1,
    input: z.object({}),
    steps: (step) =>
      Object.fromEntries(
        Array.from({ length: questions }, (_, i) => [
          `ask-${i}`,
          step.approval(`ask-${i}`, { ask: () => `${i} ${'?'.repeat(chars)}`, timeout: '1h' }),
        ]),
      ),
  });
}

test('a thousand waits at once fit the snapshot', async () => {
  const world = new World({ workflows: [asking(1_000, 50)] });
  const runId = await world.start('asking');
  await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval');
  expect(assertStored(world.db, runId).waits).toHaveLength(1_000);
});

test('more waits than the snapshot holds fail the run, with the reason', async () => {
  const world = new World({ workflows: [asking(60, 15_000)] });
  const runId = await world.start('asking');
  await world.run();
  expect(assertStored(world.db, runId)).toMatchObject({
    status: 'failed',
    error: { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('open waits') },
  });
});
