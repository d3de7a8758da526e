import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { inputSchemaOf, MAX_SCHEMA_CHARS } from '../../packages/cairn/src/api/views/workflow.ts';
import {
  asForm,
  asJson,
  type Entered,
  isUntouched,
  NOTHING_ENTERED,
  readEntered,
} from '../../packages/console/src/parts/schema-form/entered.ts';
import {
  fieldsOf,
  formValue,
  initialOf,
  typedFrom,
  withExamples,
} from '../../packages/console/src/parts/schema-form/fields.ts';

const order = z.object({
  orderId: z.string(),
  amount: z.number().int().positive(),
  weight: z.number().optional(),
  isGift: z.boolean().default(false),
  speed: z.enum(['slow', 'fast']),
  lines: z.array(z.object({ sku: z.string() })).optional(),
  note: z.string().default('none').describe('Printed on the parcel'),
});
const fields = fieldsOf(inputSchemaOf({ input: order })) ?? [];

test('each member of an input schema gets a field of its kind', () => {
  expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['orderId', 'text', true],
    ['amount', 'integer', true],
    ['weight', 'number', false],
    ['isGift', 'boolean', false],
    ['speed', 'choice', true],
    ['lines', 'json', false],
    ['note', 'text', false],
  ]);
  expect(initialOf(fields)).toMatchObject({ orderId: '', isGift: 'false', note: 'none' });
  expect(fields.at(-1)?.description).toBe('Printed on the parcel');
});

test('all issues are shown at once', () => {
  const typed = { amount: '1.5', weight: 'heavy', speed: '"slow"', lines: '[' };
  expect(formValue(fields, typed)).toEqual({
    kind: 'issues',
    issues: [
      { name: 'orderId', why: 'is required' },
      { name: 'amount', why: 'must be a whole number' },
      { name: 'weight', why: 'must be a number' },
      { name: 'lines', why: 'must be JSON' },
    ],
  });
});

test('typed values become a valid input, without empty members', () => {
  const typed = { orderId: 'o-1', amount: '4900', isGift: 'true', speed: '"fast"', lines: '[{"sku":"a"}]' };
  const form = formValue(fields, typed);
  expect(form).toEqual({
    kind: 'value',
    value: { orderId: 'o-1', amount: 4_900, isGift: true, speed: 'fast', lines: [{ sku: 'a' }] },
  });
  expect(form.kind === 'value' && order.safeParse(form.value).success).toBe(true);
});

test('examples fill required empty fields with valid values', () => {
  const filled = withExamples(fields, { ...initialOf(fields), orderId: 'o-7' });
  expect(filled).toMatchObject({ orderId: 'o-7', amount: '1', speed: '"slow"', weight: '', lines: '' });
  const form = formValue(fields, filled);
  expect(form.kind === 'value' && order.safeParse(form.value).success).toBe(true);
  expect(fields.find(({ name }) => name === 'lines')?.example).toBe('[{"sku":"example"}]');
});

test('the input of a run fills the form, unless it has members without a field', () => {
  fc.assert(
    fc.property(
      fc.record({
        orderId: fc.string({ minLength: 1 }),
        amount: fc.integer(),
        weight: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
        isGift: fc.boolean(),
        speed: fc.constantFrom('slow', 'fast'),
        note: fc.string({ minLength: 1 }),
      }),
      (input) => {
        const typed = typedFrom(fields, input);
        expect(typed && formValue(fields, typed)).toEqual({ kind: 'value', value: input });
      },
    ),
  );
  expect(typedFrom(fields, { orderId: 'o', other: 1 })).toBeUndefined();
  expect(typedFrom(fields, 'text')).toBeUndefined();
});

describe('no form exists for', () => {
  test.each<[string, unknown]>([
    ['no schema', null],
    ['a text', inputSchemaOf({ input: z.string() })],
    ['an object without members', inputSchemaOf({ input: z.object({}) })],
    ['anything', inputSchemaOf({ input: z.unknown() })],
    ['a union', inputSchemaOf({ input: z.union([z.object({ a: z.string() }), z.string()]) })],
    [
      'many members',
      inputSchemaOf({
        input: z.object(Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`m${at}`, z.string()]))),
      }),
    ],
  ])('%s', (_name, schema) => {
    expect(fieldsOf(schema)).toBeUndefined();
  });
});

test('a schema that JSON Schema cannot express accepts anything, and one that is too long is omitted', () => {
  const open = inputSchemaOf({ input: z.object({ at: z.date(), text: z.string().transform(Number) }) });
  expect(open).toMatchObject({ type: 'object', properties: { at: {}, text: { type: 'string' } } });
  const long = z.object({ text: z.string().describe('x'.repeat(MAX_SCHEMA_CHARS)) });
  expect(inputSchemaOf({ input: long })).toBeUndefined();
});

test('a value that was not edited is unchanged between form and JSON', () => {
  const schema = inputSchemaOf({ input: order });
  const begin = { note: '', orderId: '', amount: 2, speed: 'slow', isGift: false };
  const asText = asJson(readEntered(schema, NOTHING_ENTERED, begin), schema, NOTHING_ENTERED);
  expect(JSON.parse(readEntered(schema, asText, begin).jsonText)).toEqual(begin);
  const back = asForm(readEntered(schema, asText, begin), schema, asText);
  expect([asText, back].map(isUntouched)).toEqual([true, true]);
});

test('what is typed in a form that is not complete comes back from JSON, and a text that is no JSON from the form', () => {
  const schema = inputSchemaOf({ input: order });
  const see = (entered: Entered) => readEntered(schema, entered);
  const toJson = (entered: Entered) => asJson(see(entered), schema, entered);
  const toForm = (entered: Entered) => asForm(see(entered), schema, entered);

  const typed = { ...see(NOTHING_ENTERED).typed, orderId: 'o-1', amount: '12x' };
  const json = toJson({ ...NOTHING_ENTERED, typed });
  expect(JSON.parse(see(json).jsonText)).toMatchObject({ orderId: 'o-1' });
  expect(see(toForm(json)).typed).toEqual(typed);

  const broken = { ...json, text: '{"orderId": "o-2", amount' };
  const form = toForm(broken);
  expect(see(form).typed).toEqual(typed);
  expect(see(toJson(form)).jsonText).toBe(broken.text);
  // The form was changed since: the text is made of it.
  const changed = toJson({ ...form, typed: { ...typed, amount: '3' } });
  expect(JSON.parse(see(changed).jsonText)).toMatchObject({ orderId: 'o-1', amount: 3 });
  // The text was changed since: the form is made of it.
  expect(see(toForm({ ...changed, text: '{"orderId":"o-3","amount":4}' })).typed).toMatchObject({
    orderId: 'o-3',
    amount: '4',
  });
});
