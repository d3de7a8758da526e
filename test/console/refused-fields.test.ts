import { expect, test } from '@jest/globals';
import { ApiError } from '../../packages/console/src/api/problem.ts';
import { NOTHING_ENTERED, readEntered } from '../../packages/console/src/parts/schema-form/entered.ts';
import { fieldsOf } from '../../packages/console/src/parts/schema-form/fields.ts';
import {
  memberRefused,
  refusedAt,
  stillRefused,
} from '../../packages/console/src/parts/schema-form/refused.ts';

const FIELDS =
  fieldsOf({
    type: 'object',
    properties: {
      to: { type: 'string' },
      'to.name': { type: 'string' },
      cents: { type: 'integer' },
      lines: {},
    },
  }) ?? [];

const FORM = { fields: FIELDS, isAlone: false };

const refused = (detail: string, code = 'INVALID_INPUT') =>
  refusedAt(new ApiError({ type: '', title: '', status: 400, code, detail } as never), 'input', FORM);

test.each([
  ['input.cents: Too small', [['cents', 'Too small']]],
  [
    'input.cents: Too small; expected >0; input.to: Invalid email',
    [
      ['cents', 'Too small; expected >0'],
      ['to', 'Invalid email'],
    ],
  ],
  ['input.to.name: too long', [['to.name', 'too long']]],
  ['input.lines[2].sku: Invalid', [['lines', '[2].sku: Invalid']]],
  ['input.lines.sku: Invalid', [['lines', 'sku: Invalid']]],
  ['input.centsOff: Invalid; input.to: Invalid', [['to', 'Invalid']]],
  ['input: Unrecognized key: "x"', []],
  ['threadId: too long', []],
])('%s is told at its fields', (detail, issues) => {
  expect(refused(detail).map(({ name, why }) => [name, why])).toEqual(issues);
});

test.each([
  ['data: Too small', [['data', 'Too small']]],
  ['wait: not open', []],
])('%s of a value that has one field is told there', (detail, issues) => {
  const { fields, isAlone } = readEntered({ type: 'number' }, NOTHING_ENTERED);
  const error = new ApiError({ type: '', title: '', status: 400, code: 'INVALID_INPUT', detail } as never);
  expect(refusedAt(error, 'data', { fields, isAlone }).map(({ name, why }) => [name, why])).toEqual(issues);
});

test('other failures are not shown at a field', () => {
  expect(refused('input.cents: Too small', 'WORKFLOW_UNKNOWN')).toEqual([]);
  expect(refusedAt(new Error('input.cents: x'), 'input', FORM)).toEqual([]);
});

test('a corrected field is no longer marked', () => {
  const issues = [
    { name: 'cents', why: 'a' },
    { name: 'to', why: 'b' },
  ];
  const entry = { typed: { cents: '-3', to: 'x' }, issues };
  expect(stillRefused(entry, { cents: '-3', to: 'y' }).map(({ name }) => name)).toEqual(['cents']);
  expect(stillRefused(undefined, {})).toEqual([]);
});

test('a refused member of the request is reported at its field, with advice', () => {
  const sent = { cron: '99 * * * *', timezone: 'UTC' };
  const problem = { type: '', title: '', status: 400, code: 'INVALID_INPUT', detail: 'it never matches' };
  const of = (more: object) => memberRefused(new ApiError({ ...problem, ...more } as never), sent);
  const refusal = of({ field: 'cron', help: 'Use five fields.' });
  expect(refusal).toEqual({ name: 'cron', sent: '99 * * * *', why: 'it never matches. Use five fields.' });
  expect(of({ field: 'cron' })?.why).toBe('it never matches');
  expect(of({ field: 'input' })).toBeUndefined();
  expect(of({})).toBeUndefined();
  expect(of({ field: 'cron', code: 'FORBIDDEN' })).toBeUndefined();
  expect(memberRefused(new Error('cron'), sent)).toBeUndefined();
});
