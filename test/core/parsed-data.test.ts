import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { parsedData } from '../../packages/cairn/src/core/parsed-data.ts';

const later = async (value: unknown) => value;

test.each([
  ['a refinement', z.string().refine(async () => true)],
  ['a transform', z.string().transform(later)],
  ['a member', z.object({ a: z.string().transform(later) })],
])('an asynchronous schema is refused with what to do, not with advice for another call: %s', (_, schema) => {
  const parsed = parsedData(schema, schema instanceof z.ZodObject ? { a: 'x' } : 'x');
  expect(parsed).toEqual({
    issues: [
      { path: [], message: expect.stringMatching(/^the schema is asynchronous: move .* into a step/) },
    ],
  });
});

test('what a function within a schema throws is its refusal', () => {
  const thrown = new TypeError('broken');
  const schema = z.string().refine(() => {
    throw thrown;
  });
  expect(parsedData(schema, 'x')).toEqual({ issues: [{ path: [], message: 'broken' }], thrown });
});

test('the functions of a schema are not called again after an error of theirs or of Zod', () => {
  let calls = 0;
  const schemaOf = (check: () => unknown) =>
    z.string().refine(() => {
      calls += 1;
      return check();
    });
  parsedData(
    schemaOf(() => {
      throw new Error('broken');
    }),
    'x',
  );
  parsedData(
    schemaOf(async () => true),
    'x',
  );
  expect(calls).toBe(2);
});
