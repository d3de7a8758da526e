import { describe, expect, test } from '@jest/globals';
import {
  CairnError,
  ERROR_CODES,
  type ErrorCode,
  Fatal,
  NotApplied,
  RetryAt,
  toProblem,
} from '../../packages/cairn/src/core/errors.ts';

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

describe('error codes', () => {
  test.each<[ErrorCode, number]>([
    ['RUN_INVALID_TRANSITION', 409],
    ['RUN_TERMINAL_STATE', 409],
    ['RUN_NOT_FOUND', 404],
    ['RUN_ORPHANED', 409],
    ['RUN_RESUME_FAILED', 409],
    ['IDEMPOTENCY_CONFLICT', 409],
    ['IDEMPOTENCY_KEY_REUSED', 422],
    ['IDEMPOTENCY_EXPIRED', 410],
    ['PLAN_VERSION_UNAVAILABLE', 409],
    ['PLAN_CHANGED', 409],
    ['EFFECT_REQUEST_MISMATCH', 409],
    ['EFFECT_IN_DOUBT', 409],
    ['APPROVAL_DECIDED', 409],
    ['APPROVAL_EXPIRED', 410],
    ['SCHEDULE_DECLARED', 409],
    ['PAYLOAD_TOO_LARGE', 413],
    ['INVALID_INPUT', 400],
    ['UNAUTHENTICATED', 401],
    ['FORBIDDEN', 403],
    ['RATE_LIMITED', 429],
  ])('%s answers %i', (code, status) => {
    expect(new CairnError(code, 'x').httpStatus).toBe(status);
  });

  test.each(codes.map((code) => [code]))('%s has a message with the cause and the next step', (code) => {
    const problem = toProblem(new CairnError(code, 'precisely this'));
    expect(problem).toMatchObject({ code, status: ERROR_CODES[code].httpStatus, detail: 'precisely this' });
    expect(problem.title.length).toBeGreaterThan(5);
    expect(problem.help).toMatch(/\.$/);
  });
});

describe('problem details', () => {
  test('carry field, step, help and details, if given', () => {
    const options = { field: 'input.type', stepId: 'gate', help: 'Do that.', details: { allowed: ['a'] } };
    expect(toProblem(new CairnError('INVALID_INPUT', 'wrong', options))).toEqual({
      type: 'urn:cairn:problem:INVALID_INPUT',
      title: ERROR_CODES.INVALID_INPUT.title,
      status: 400,
      detail: 'wrong',
      code: 'INVALID_INPUT',
      ...options,
    });
    expect(Object.keys(toProblem(new CairnError('FORBIDDEN', 'no'))).sort()).toEqual([
      'code',
      'detail',
      'help',
      'status',
      'title',
      'type',
    ]);
  });

  test.each([new Error('password=hunter2'), 'hunter2', undefined, null, { code: 'hunter2' }])(
    'an unexpected error (%p) reveals nothing',
    (error) => {
      const problem = toProblem(error);
      expect(problem).toMatchObject({ code: 'INTERNAL', status: 500 });
      expect(JSON.stringify(problem)).not.toContain('hunter2');
    },
  );

  test('the cause is kept for the log and not shown', () => {
    const error = new CairnError('UNAVAILABLE', 'later', { cause: new Error('secret') });
    expect(error.cause).toEqual(new Error('secret'));
    expect(JSON.stringify(toProblem(error))).not.toMatch(/secret|stack/);
  });
});

describe('what a step body may throw', () => {
  test('each is an error with its own name, message and cause', () => {
    const cause = new Error('below');
    for (const error of [
      new Fatal('m', { cause }),
      new RetryAt(5, 'm', { cause }),
      new NotApplied('m', { cause }),
    ]) {
      expect(error).toBeInstanceOf(Error);
      expect(error.name).toBe(error.constructor.name);
      expect(error).toMatchObject({ message: 'm', cause });
    }
  });

  test('RetryAt takes a date or epoch milliseconds, and no invalid time', () => {
    expect(new RetryAt(new Date(1_000)).at).toBe(1_000);
    expect(new RetryAt(1_000).at).toBe(1_000);
    expect(() => new RetryAt(Number.NaN)).toThrow(RangeError);
    expect(() => new RetryAt(new Date('nonsense'))).toThrow(RangeError);
  });
});
