/** The table of query parameters: the document describes what the API accepts. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { OPERATIONS } from '../../packages/cairn/src/api/openapi/paths/all.ts';
import { type ApiOperation, OF_RUNS } from '../../packages/cairn/src/api/openapi/paths/describe.ts';
import type { QueryParameter } from '../../packages/cairn/src/api/parameters.ts';
import { CairnError } from '../../packages/cairn/src/core/errors.ts';

const PARAMETERS = Object.entries<ApiOperation>(OPERATIONS).flatMap(([operation, { query = {} }]) =>
  Object.entries(query).map(([name, parameter]) => ({ operation, name, parameter })),
);

/** The value, or the name of the refused field. */
function outcomeOf({ read }: QueryParameter<unknown, unknown>, sent: string | undefined, name: string) {
  try {
    return { value: read(sent, name) };
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    return { refused: error.code, field: error.field };
  }
}

describe.each(PARAMETERS)('$name of $operation', ({ name, parameter }) => {
  const { schema, required } = parameter;
  const refused = { refused: 'INVALID_INPUT', field: name };

  test('has the documented default, or is required', () => {
    const absent = outcomeOf(parameter, undefined, name);
    if (required) expect(absent).toEqual(refused);
    else if (schema.default !== undefined) expect(absent).toEqual({ value: schema.default });
    else expect(absent).not.toEqual(refused);
  });

  test('accepts exactly the documented values', () => {
    const accepts = (sent: unknown) => !('refused' in outcomeOf(parameter, String(sent), name));
    fc.assert(
      fc.property(fc.oneof(fc.string({ minLength: 1 }), fc.integer(), fc.boolean()), (sent) => {
        const { type, minimum, maximum, enum: words } = schema;
        if (Array.isArray(words)) expect(accepts(sent)).toBe(words.includes(String(sent)));
        else if (type === 'boolean') expect(accepts(sent)).toBe(['true', 'false'].includes(String(sent)));
        else if (type === 'integer' && typeof sent === 'number' && typeof maximum === 'number')
          expect(accepts(sent)).toBe(sent >= Number(minimum) && sent <= maximum);
        else if (schema.format === 'date-time' || schema.pattern !== undefined)
          expect(accepts(sent)).toBe(false);
        else if (type === 'string') expect(accepts(sent)).toBe(true);
      }),
    );
    if (Array.isArray(schema.enum)) expect(schema.enum.every(accepts)).toBe(true);
    for (const bound of [schema.minimum, schema.maximum])
      if (bound !== undefined) expect(accepts(bound)).toBe(true);
    if (schema.minimum === 1) expect(accepts(0)).toBe(false);
    if (typeof schema.maximum === 'number') expect(accepts(schema.maximum + 1)).toBe(false);
    if (schema.format === 'date-time') expect(accepts('2026-01-31T08:00:00Z')).toBe(true);
  });
});

describe('a text of 1,501 bytes, which Firestore compares with nothing,', () => {
  const COMPARED = Object.keys(OF_RUNS);
  const compared = PARAMETERS.filter(
    ({ name, operation }) => COMPARED.includes(name) && operation.includes('/v1/runs'),
  );

  test.each(compared)('is refused as $name of $operation', ({ name, parameter }) => {
    for (const longest of ['x'.repeat(1_500), 'é'.repeat(750)]) {
      expect(outcomeOf(parameter, longest, name)).toEqual({ value: longest });
      expect(outcomeOf(parameter, `${longest}x`, name)).toEqual({ refused: 'INVALID_INPUT', field: name });
    }
  });
});
