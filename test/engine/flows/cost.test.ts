import { describe, expect, test } from '@jest/globals';
import { metered, writesOf } from '../../support/metered-store.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { flowWorkflow } from './one-flow.ts';

const LENGTH = 6_000;

describe('a flow of six thousand operations', () => {
  test('costs the same at its beginning and its end, and resumes after a crash from its checkpoints alone', async () => {
    const bodies: number[] = [];
    let isDead = false;
    const workflow = flowWorkflow(async (flow) => {
      let sum = 0;
      for (let i = 0; i < LENGTH; i += 1) {
        sum += await flow.step('turn', () => {
          bodies.push(i);
          if (i === LENGTH - 1 && !isDead) {
            isDead = true;
            return new Promise<number>(() => {});
          }
          return 1;
        });
      }
      return sum;
    });
    const world = new World({ workflows: [workflow] });
    const { deps, calls, checkpoints, commitOf, reads } = metered(world);
    const runId = await world.start('w');
    const first = mortal(deps, 1);
    await world.run(() => isDead, first.deps);
    first.kill();
    const early = commitOf('main[turn.10]');
    const late = commitOf(`main[turn.${LENGTH - 1}]`);
    for (const { steps } of [early, late]) expect(steps).toHaveLength(1);
    expect([writesOf(early), writesOf(late)]).toEqual([3, 3]);
    expect(reads()).toEqual(['load']);

    calls.length = 0;
    await world.run(undefined, deps);
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: `{"out":${LENGTH}}` },
    });
    expect(bodies).toHaveLength(LENGTH + 1);
    expect(checkpoints).toHaveLength(LENGTH - 1);
    expect(calls.filter((method) => method === 'readCheckpoints')).toHaveLength(
      Math.ceil((LENGTH - 1) / 100),
    );
  });
});
