import { expect, test } from '@jest/globals';
import { CleanupStack } from '../../../packages/local/src/cleanup-stack.ts';

test('everything is closed in reverse order, also if others fail', async () => {
  const closed: number[] = [];
  const closing = new CleanupStack();
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
