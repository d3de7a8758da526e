import { expect, test } from '@jest/globals';
import { Closing } from '../../../packages/local/src/closing.ts';

test('everything is closed in the reverse order, whatever becomes of others', async () => {
  const closed: number[] = [];
  const closing = new Closing();
  closing.defer(() => closed.push(1));
  closing.defer(async () => {
    throw new Error('two');
  });
  closing.defer(async () => closed.push(3));
  await expect(closing.close()).rejects.toThrow('two');
  expect(closed).toEqual([3, 1]);
  await closing.close();
  expect(closed).toEqual([3, 1]);
});
