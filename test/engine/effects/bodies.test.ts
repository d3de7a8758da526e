import { describe, expect, test } from '@jest/globals';
import { NotApplied } from '../../../functions/src/core/errors.ts';
import { Outside } from '../../support/outside.ts';
import { hello, installation, rowsOf } from './stage.ts';

describe('a body', () => {
  test('may use only what its step declares', async () => {
    const other = new Outside({ id: 'other.thing' });
    const { outside, world } = installation((perform) => perform(other.capability, { text: 'x' }));
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).error).toMatchObject({ code: 'INVALID_INPUT', stepId: 'send' });
    expect(outside.calls + other.calls).toBe(0);
  });

  test('needs keys for calls at the same time', async () => {
    const { outside, world } = installation((perform, capability) =>
      Promise.all([perform(capability, { text: 'a' }), perform(capability, { text: 'b' })]),
    );
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).error).toMatchObject({ code: 'INVALID_INPUT' });
    expect(outside.applied.length).toBeLessThanOrEqual(1);
  });

  test('is told of a request its capability does not take, before anything is written', async () => {
    const { world } = installation((perform, capability) => perform(capability, { text: 7 } as never));
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('failed');
    expect(rowsOf(world)).toEqual([]);
  });

  test('is tried again when the outside says, not before', async () => {
    const { outside, world } = installation(hello);
    const at = world.clock.now() + 90_000;
    outside.onCall = () => {
      if (outside.calls === 1) throw new NotApplied('too many', { retryAt: at });
    };
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(rowsOf(world)[1]?.createdAt).toBeGreaterThanOrEqual(at);
  });

  test('gives no step its output where the outside refuses for good', async () => {
    const { outside, world } = installation(hello);
    outside.faults.push('refuse_for_good');
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id).status).toBe('failed');
    expect(outside.calls).toBe(1);
  });
});
