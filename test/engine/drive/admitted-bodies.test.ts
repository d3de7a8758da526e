/** A body begins once it is admitted. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { World } from '../../support/world.ts';

test.each([
  ['begins once it is admitted', false, ['pay one', 'one ran', 'pay two', 'two ran'], 'completed'],
  ['does not begin if it was asked to stop meanwhile', true, ['pay one'], 'running'],
] as const)('a body %s', async (_what, isStopped, expected, status) => {
  const seen: string[] = [];
  const pay = defineWorkflow({
    type: 'pay',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => {
      const one = step('one', () => seen.push('one ran'));
      const two = step('two', { needs: { one } }, () => seen.push('two ran'));
      return { two };
    },
  });
  const world = new World({ workflows: [pay] });
  const stopping = new AbortController();
  const admitBody = (body: string) => {
    seen.push(body);
    return Promise.resolve().then(() => isStopped && stopping.abort());
  };
  const runId = await world.start('pay');
  await world.run(() => stopping.signal.aborted, { ...world.deps, admitBody, shutdown: stopping.signal });
  expect(seen).toEqual(expected);
  expect(world.stateOf(runId).status).toBe(status);
});
