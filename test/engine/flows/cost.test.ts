import { describe, expect, test } from '@jest/globals';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../../support/intercept.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { flowWorkflow } from './one-flow.ts';

const LENGTH = 6_000;
const READS = ['load', 'readEvents', 'readCheckpoints', 'readPayload', 'listSteps', 'readMemos'];

function writesOf({ events, checkpoints, steps }: JournalCommit): number {
  return events.length + checkpoints.length + steps.length;
}

describe('a flow of six thousand operations', () => {
  test('costs at its end what it costs at its beginning, and goes on from a crash there by its checkpoints alone', async () => {
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
    const commits = new Map<string, JournalCommit>();
    const calls: string[] = [];
    let checkpoints = 0;
    const store = intercept(world.store, ({ method, args }, proceed) => {
      calls.push(method);
      if (method === 'readCheckpoints') checkpoints += (args[1] as readonly number[]).length;
      if (method === 'commit') {
        for (const { id } of (args[0] as JournalCommit).steps) commits.set(id, args[0] as JournalCommit);
      }
      return proceed();
    });
    const deps = { ...world.deps, store };
    const runId = await world.start('w');
    const first = mortal(deps, 1);
    await world.run(() => isDead, first.deps);
    first.kill();
    const early = commits.get('main[turn.10]') as JournalCommit;
    const late = commits.get(`main[turn.${LENGTH - 1}]`) as JournalCommit;
    for (const { steps } of [early, late]) expect(steps).toHaveLength(1);
    expect([writesOf(early), writesOf(late)]).toEqual([3, 3]);
    expect(calls.filter((method) => READS.includes(method))).toEqual(['load']);

    calls.length = 0;
    await world.run(undefined, deps);
    expect(assertStored(world.db, runId)).toMatchObject({
      status: 'completed',
      result: { text: `{"out":${LENGTH}}` },
    });
    expect(bodies).toHaveLength(LENGTH + 1);
    expect(checkpoints).toBe(LENGTH - 1);
    expect(calls.filter((method) => method === 'readCheckpoints')).toHaveLength(
      Math.ceil((LENGTH - 1) / 100),
    );
  });
});
