import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { childRunId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { PARKED_MS } from '../../../packages/cairn/src/core/run/wake.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { KnownPlans } from '../../../packages/cairn/src/engine/plans/known-plans.ts';
import { otherRuns } from '../../../packages/cairn/src/operations/other-runs.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

const child = (last: string) =>
  defineWorkflow({
    type: 'child',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ out: step(last, () => last) }),
  });
const parent = defineWorkflow({
  type: 'parent',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    one: step.child('one', { workflow: 'child', input: () => ({}), onFailure: 'skip' }),
  }),
});

test('a child whose workflow was changed is retried rarely, and started when the definition is back', async () => {
  const world = new World({ workflows: [child('ship'), parent] });
  await world.start('child');
  const runId = await world.start('parent');
  const changed = new WorkflowRegistry([child('mail'), parent]);
  const deps = {
    ...world.deps,
    registry: changed,
    plans: new KnownPlans({ ...world.deps, store: world.planStore }),
  };
  const lacking = { ...deps, otherRuns: otherRuns({ ...deps, records: world.records }) };
  const day = 24 * 3_600_000;
  const until = world.clock.now() + day;
  await world.run(() => world.clock.now() >= until, lacking);
  const { status, failures, head } = await world.folded(runId);
  expect([status, failures?.error.code]).toEqual(['running', 'PLAN_CHANGED']);
  expect(world.db.runs.has(childRunId(runId, 'one.1'))).toBe(false);
  // Each look costs three events at most, and half the bound lies between two of them on average.
  expect(head).toBeLessThan(3 * (day / (PARKED_MS / 4)));

  await world.run();
  expect(assertStored(world.db, runId)).toMatchObject({
    status: 'completed',
    result: { text: '{"one":{"out":"ship"}}' },
  });
});
