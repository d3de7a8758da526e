import { expect, test } from '@jest/globals';

/** The first place in a stack that is not Jest's own. */
function placeOf(error: unknown): string {
  const lines = (error as Error).stack?.split('\n') ?? [];
  const place = lines.find((line) => /^ +at /.test(line) && !/node_modules|node:/.test(line));
  return /[^/]+:\d+(?=:\d+\)?$)/.exec(place ?? '')?.[0] ?? `no place in ${lines.join('\n')}`;
}

const failing = async (assert: () => unknown): Promise<unknown> => {
  try {
    await assert();
  } catch (error) {
    return error;
  }
  throw new Error('the assertion holds');
};

test.each<[string, () => unknown]>([
  ['a value', () => expect(1).toBe(2)],
  ['a value, negated', () => expect(1).not.toBe(1)],
  ['what a promise resolves to', () => expect(Promise.resolve(1)).resolves.toBe(2)],
  ['what a promise resolves to, negated', () => expect(Promise.resolve(1)).resolves.not.toBe(1)],
  ['what a promise rejects with', () => expect(Promise.reject(new Error('a'))).rejects.toThrow('b')],
  ['a promise that does not reject', () => expect(Promise.resolve(1)).rejects.toThrow()],
])('a failed assertion names its line: %s', async (_, assert) => {
  const error = await failing(assert);
  expect((error as Error).message).toContain('received');
  expect(placeOf(error)).toMatch(/^jest-expect\.test\.ts:\d+$/);
  expect(String((error as Error).stack)).not.toContain('lean-expect');
});

test('every assertion is counted', async () => {
  expect.assertions(4);
  expect(1).toBe(1);
  expect(1).not.toBe(2);
  await expect(Promise.resolve(1)).resolves.toBe(1);
  expect(expect.getState().assertionCalls).toBe(3);
});

test('a matcher that does not exist cannot be called', () => {
  expect((expect(1) as unknown as Record<string, unknown>).toBeNice).toBeUndefined();
});
