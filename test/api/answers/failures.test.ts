import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { firstIssue } from '../../../packages/cairn/src/core/first-issue.ts';
import { problemResponse } from '../../../packages/cairn/src/http/problem.ts';
import type { LogFields } from '../../../packages/cairn/src/ports/log.ts';

function answered(thrown: unknown) {
  const logged: LogFields[] = [];
  const error = (_event: string, fields: LogFields = {}) => void logged.push(fields);
  const none = () => {};
  const response = problemResponse(thrown, { debug: none, info: none, warn: none, error });
  return { response, logged: String(logged[0]?.error) };
}

function ring(): Error {
  const error = new Error('a ring');
  error.cause = error;
  return error;
}

const refuses = (): never => {
  throw new Error('do not look');
};

describe('an error of a dependency', () => {
  test.each<[string, unknown]>([
    ['an error that caused itself', ring()],
    ['an object without a text', Object.create(null)],
    ['an error whose stack throws', Object.defineProperty(new Error('odd'), 'stack', { get: refuses })],
    ['a proxy that refuses every look', new Proxy({}, { get: refuses, getPrototypeOf: refuses })],
    ['a million characters', new Error('x'.repeat(1_000_000))],
  ])('%s is answered 500, without its text, and logged in a line of bounded length', async (_, thrown) => {
    const { response, logged } = answered(thrown);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      code: 'INTERNAL',
      detail: expect.stringMatching(/^The request could not be completed/),
    });
    expect(logged.length).toBeGreaterThan(10);
    expect(logged.length).toBeLessThan(30_000);
  });
});

describe('the refusal of a schema is worded for an answer', () => {
  test('whatever the number and the names of the unknown members', () => {
    const sent = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`member-${i}`, i]));
    const { field, why } = firstIssue(z.strictObject({}).safeParse(sent).error?.issues ?? [], 'input');
    expect(field).toBe('input');
    expect(why).toMatch(/^Unrecognized keys.*…$/);
    expect(why.length).toBe(500);
  });

  test('whatever the length and the content of path and message', () => {
    const issue = { path: ['p'.repeat(10_000), 3, Symbol('s')], message: `${'m'.repeat(10_000)}\ud800` };
    const { field, why } = firstIssue([issue]);
    expect([field.length, why.length]).toEqual([100, 500]);
    expect(firstIssue([{ path: ['a', 0, Symbol('s')], message: '\ud800' }])).toEqual({
      field: 'a.0.Symbol(s)',
      why: '\ufffd',
    });
  });
});
