import { expect, test } from '@jest/globals';
import { hello, installation, rowsOf } from './stage.ts';

test.each([
  [{ idempotency: 'not_supported' }, 1, 'the answer was lost'],
  [{ idempotency: 'required' }, 3, 'the answer was lost'],
  [{ withLookup: true }, 1, 'the archive is shut'],
] as const)(
  'an effect in doubt keeps how the last attempt ended for the person who is asked: %j',
  async (options, calls, error) => {
    const { outside, world } = installation(hello, options);
    outside.faults.push('lose_answer', 'lose_answer', 'lose_answer');
    outside.onLookUp = () => {
      throw new Error('the archive is shut');
    };
    const id = await world.start('post');
    await world.run();
    expect(world.stateOf(id)).toMatchObject({
      status: 'awaiting_approval',
      waits: [{ purpose: 'effect' }],
    });
    expect(outside.calls).toBe(calls);
    expect(rowsOf(world)).toMatchObject([{ status: 'blocked', error: expect.stringContaining(error) }]);
  },
);
