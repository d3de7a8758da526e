import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { exampleOf } from '../../packages/client/src/example/example-of.ts';
import { matchingText } from '../../packages/client/src/example/matching-text.ts';

const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
const examined = (schema: z.ZodType) => exampleOf(schemaOf(schema));

const Tree: z.ZodType = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree);
  },
});

describe('the example of a schema is valid for it', () => {
  test.each<readonly [string, z.ZodType]>([
    ['a text', z.string()],
    ['a long text', z.string().min(40)],
    ['a short text', z.string().max(3)],
    ['a text of one length', z.string().length(17)],
    ['an address of mail', z.email()],
    ['an address', z.url()],
    ['a uuid', z.uuid()],
    ['a uuid of a version', z.uuidv4()],
    ['a time', z.iso.datetime()],
    ['a day', z.iso.date()],
    ['a time of day', z.iso.time()],
    ['a duration', z.iso.duration()],
    ['an IPv4 address', z.ipv4()],
    ['an IPv6 address', z.ipv6()],
    ['a telephone number', z.e164()],
    ['base64', z.base64()],
    ['base64url', z.base64url()],
    ['a ulid', z.ulid()],
    ['a nanoid', z.nanoid()],
    ['a pattern', z.string().regex(/^[A-Z]{2,3}-\d{4}(?:\.(?:draft|final))?$/)],
    ['a repository', z.string().regex(/^[\w.-]+\/[\w.-]+$/)],
    ['a beginning', z.string().startsWith('order_')],
    ['an end', z.string().endsWith('.pdf')],
    ['a part', z.string().includes('@')],
    ['a number', z.number()],
    ['a whole number', z.number().int().positive()],
    ['a count', z.int().nonnegative()],
    ['a negative number', z.number().negative()],
    ['a number in a range', z.number().min(2.5).max(2.75)],
    ['a number between', z.number().gt(0).lt(1)],
    ['a multiple', z.number().int().multipleOf(25).min(30)],
    ['a choice', z.enum(['fast', 'slow'])],
    ['a literal', z.literal(7)],
    ['a truth value', z.boolean()],
    ['nothing', z.null()],
    ['what may be nothing', z.string().nullable()],
    ['a list', z.array(z.object({ sku: z.string(), quantity: z.int().positive() })).min(2)],
    ['a short list', z.array(z.string()).max(1)],
    ['an empty list', z.array(z.string()).max(0)],
    ['a tuple', z.tuple([z.string(), z.number()])],
    ['a record', z.record(z.string(), z.number())],
    ['a record of choices', z.record(z.enum(['a', 'b']), z.boolean())],
    ['one of several', z.union([z.number(), z.string()])],
    [
      'one of several by a member',
      z.discriminatedUnion('kind', [z.object({ kind: z.literal('mail'), to: z.email() })]),
    ],
    ['both of two', z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() }))],
    ['anything', z.unknown()],
    ['what refers to itself', Tree],
    ['an object that is closed', z.strictObject({ a: z.string() })],
  ])('%s', (_, schema) => {
    const example = examined(schema);
    expect(example).toBeDefined();
    expect(schema.safeParse(example)).toMatchObject({ success: true });
  });

  const leaf = fc.oneof(
    fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 30 })).map(([min, more]) =>
      z
        .string()
        .min(min)
        .max(min + more),
    ),
    fc.tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.nat({ max: 50 })).map(([min, more]) =>
      z
        .int()
        .min(min)
        .max(min + more),
    ),
    fc
      .tuple(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.double({ min: 0.5, max: 99, noNaN: true }))
      .map(([min, more]) =>
        z
          .number()
          .gt(min)
          .lt(min + more),
      ),
    fc.constantFrom<z.ZodType>(
      z.email(),
      z.url(),
      z.uuid(),
      z.iso.datetime(),
      z.iso.date(),
      z.boolean(),
      z.null(),
      z.string(),
      z.number().positive(),
    ),
    fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 4 }).map((names) => z.enum(names as [string])),
    fc.string().map((text) => z.string().default(text)),
    fc.string().map((text) => z.string().meta({ examples: [text] })),
  );
  const { schema } = fc.letrec<{ schema: z.ZodType }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc
        .dictionary(fc.string({ maxLength: 6 }), tie('schema'), { maxKeys: 4 })
        .map((shape) => z.object(shape)),
      fc.tuple(tie('schema'), fc.nat({ max: 3 })).map(([item, min]) => z.array(item).min(min)),
      tie('schema').map((one) => one.optional()),
      tie('schema').map((one) => one.nullable()),
      fc.tuple(tie('schema'), tie('schema')).map(([a, b]) => z.union([a, b])),
      tie('schema').map((one) => z.record(z.string(), one)),
    ),
  }));

  test('whatever the schema is made of', () => {
    fc.assert(
      fc.property(schema, (one) => {
        const example = examined(one);
        expect(one.safeParse(example)).toMatchObject({ success: true });
      }),
    );
  });
});

test('an example of the author and a default come first', () => {
  const schema = z.object({
    to: z.email().meta({ examples: ['bo@example.org', 'cy@example.org'] }),
    speed: z.enum(['slow', 'fast']).default('fast'),
  });
  expect(examined(schema)).toEqual({ to: 'bo@example.org', speed: 'fast' });
});

test('omits what has no example, and never fails', () => {
  expect(exampleOf({ type: 'string', pattern: '(?<=a)b' })).toBeUndefined();
  expect(exampleOf({ type: 'object', properties: { a: { not: {} }, b: { type: 'null' } } })).toEqual({
    b: null,
  });
  expect(exampleOf({ $ref: '#' })).toBeUndefined();
  fc.assert(fc.property(fc.jsonValue(), (value) => void exampleOf(value)));
  fc.assert(fc.property(fc.string(), (pattern) => void matchingText(pattern)));
});

test.each([
  ['^a+b*c?$', 'abc'],
  ['^(?<year>\\d{4})-\\d{2}$', '1111-11'],
  ['^[^a]$', undefined],
  ['^(?!x)a$', undefined],
  ['^\\u{61}$', undefined],
  ['^a{0}b$', 'b'],
  ['(', undefined],
])('the pattern %j has the text %j', (pattern, text) => {
  expect(matchingText(pattern)).toBe(text);
});
