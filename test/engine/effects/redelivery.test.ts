/** The queue delivers a task again during a call of its dispatch, which has died or continues without the run. */
import { describe, expect, test } from '@jest/globals';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { driveRequestOf } from '../../../packages/cairn/src/memory/memory-task-queue.ts';
import type { OutsideOptions } from '../../support/outside.ts';
import { settle } from '../../support/virtual-clock.ts';
import { eventsOf, hello, installation, rowsOf } from './stage.ts';

const RECEIVERS = [
  ['acts once for a key', { idempotency: 'required' }, true],
  ['acts once for a key and has a lookup', { idempotency: 'required', withLookup: true }, true],
  ['has a lookup', { idempotency: 'not_supported', withLookup: true }, false],
  ['can do neither', { idempotency: 'not_supported' }, false],
] as const;

/** A run whose first dispatch has sent a call that is held until `arrived` is resolved. */
async function calling(options: OutsideOptions) {
  const { outside, world } = installation(hello, options);
  const runId = await world.start('post');
  const task = world.queue.take();
  if (!task) throw new Error('no task');
  const arrived = Promise.withResolvers<void>();
  outside.onCall = () => (outside.calls === 1 ? arrived.promise : undefined);
  const first = drive(world.deps, driveRequestOf(task));
  await settle();
  expect(outside.calls).toBe(1);
  const redeliver = () => drive(world.deps, driveRequestOf({ ...task, retryCount: 1 }));
  return { outside, world, runId, arrived, first, redeliver };
}

describe.each(RECEIVERS)('while the receiver of a call %s, the redelivery', (_, options, takesOver) => {
  test(`${takesOver ? 'takes the run over, and it acts once' : 'leaves the run to its lease'}`, async () => {
    const { outside, world, runId, arrived, first, redeliver } = await calling(options);
    const again = await redeliver();
    expect(again).toBe(takesOver ? 'moved' : 'leased');
    const takeovers = eventsOf(world, runId).filter(({ type }) => type === 'orphan_detected');
    expect(takeovers).toHaveLength(takesOver ? 1 : 0);
    if (takesOver) await world.run(() => world.stateOf(runId).status === 'completed');

    // The call of the first dispatch arrives after all, and so does its answer.
    arrived.resolve();
    await Promise.all([first, world.run()]);
    expect(world.stateOf(runId).status).toBe('completed');
    expect(outside.calls).toBe(takesOver ? 2 : 1);
    expect(outside.applied).toHaveLength(1);
    expect(rowsOf(world).filter(({ status }) => status === 'recorded')).toHaveLength(1);
  });
});

test.each([{}, { withLookup: true }])(
  'a repeated call that is refused for good meanwhile does not fail the step (%j)',
  async (more) => {
    const { outside, world, runId, arrived, first, redeliver } = await calling({
      idempotency: 'required',
      ...more,
    });
    // A receiver that is still working on the call may answer so: the key is in use.
    outside.faults.push('refuse_for_good');
    expect(await redeliver()).toBe('moved');
    await world.run(() => outside.calls >= 2 && world.stateOf(runId).lease === undefined);
    arrived.resolve();
    await Promise.all([first, world.run()]);
    expect(world.stateOf(runId).status).toBe('completed');
    expect(outside.applied).toHaveLength(1);
  },
);
