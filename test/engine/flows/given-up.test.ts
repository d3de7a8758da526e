import { expect, test } from '@jest/globals';
import { assertStored } from '../../support/soundness.ts';
import { driven } from '../../support/successors.ts';
import { World } from '../../support/world.ts';
import { flowWorkflow } from './one-flow.ts';

test('code that awaits only abandoned operations fails instead of occupying its worker', async () => {
  let awaitsAll = false;
  const workflow = flowWorkflow(
    async (flow) => {
      const answer = flow.event('answer', { key: 'k' });
      await flow.sleep('patience', '1s');
      return awaitsAll ? answer : 'nobody came';
    },
    { timeout: '1s' },
  );
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('w');
  await world.run();
  const { steps } = assertStored(world.db, runId);
  const given = steps.get('main[answer]');
  expect(given).toMatchObject({ phase: 'done', outcome: 'skipped' });
  // The same state as after a crash between the end of the wait and that of the flow, and a deployment of other code.
  awaitsAll = true;
  const forked = await driven(world, 'fork', runId, { from: { checkpoint: given?.seq ?? 0 } });
  expect(forked).toMatchObject({ status: 'failed', error: { code: 'STEP_TIMEOUT', stepId: 'main' } });
});
