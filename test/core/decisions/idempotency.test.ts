import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decideExisting,
  EXHAUSTED_MS,
  type IdempotencyRecord,
  MAX_ATTEMPTS,
  PROCESSING_LOCK_MS,
  RECORD_TTL_MS,
} from '../../../packages/cairn/src/core/decisions/idempotency.ts';

const request = { requestHash: 'same', tenantId: 'acme', now: 10_000 };

const record = (fields: Partial<IdempotencyRecord>): IdempotencyRecord => ({
  key: 'api:c.a:k',
  source: 'api',
  tenantId: 'acme',
  status: 'processing',
  requestHash: 'same',
  createdAt: 9_000,
  updatedAt: 9_000,
  expiresAt: 90_000,
  lockExpiresAt: 20_000,
  attempts: 1,
  ...fields,
});

test('a record expires after a day, the refusal of an exhausted request after an hour, a lock after five minutes; three attempts are made', () => {
  const seconds = [RECORD_TTL_MS, EXHAUSTED_MS, PROCESSING_LOCK_MS].map((ms) => ms / 1_000);
  expect([...seconds, MAX_ATTEMPTS]).toEqual([86_400, 3_600, 300, 3]);
});

describe('an existing record', () => {
  test.each<[string, Partial<IdempotencyRecord>, unknown]>([
    [
      'completed is answered from',
      { status: 'completed', runId: 'run_1', response: { ok: true } },
      { kind: 'replay' },
    ],
    ['completed without a run as well', { status: 'completed', response: 5 }, { kind: 'replay' }],
    ['in work under a lock is in flight', {}, { kind: 'in_flight' }],
    ['is in flight until the last millisecond of the lock', { lockExpiresAt: 10_001 }, { kind: 'in_flight' }],
    ['of a dead worker is taken over', { lockExpiresAt: 10_000 }, { kind: 'take_over', attempts: 2 }],
    [
      'without a lock counts as locked since its last change',
      { lockExpiresAt: undefined },
      { kind: 'in_flight' },
    ],
    [
      'without a lock and long unchanged is taken over',
      { lockExpiresAt: undefined, updatedAt: 10_000 - PROCESSING_LOCK_MS },
      { kind: 'take_over', attempts: 2 },
    ],
    [
      'of a dead worker after the last attempt is exhausted',
      { lockExpiresAt: 1, attempts: MAX_ATTEMPTS },
      { kind: 'exhausted' },
    ],
    ['that failed is taken over', { status: 'failed', error: 'x' }, { kind: 'take_over', attempts: 2 }],
    [
      'that failed for the last time is exhausted',
      { status: 'failed', error: 'x', attempts: MAX_ATTEMPTS },
      { kind: 'exhausted' },
    ],
    [
      'that failed for the last time an hour ago is tried again, as the same request',
      {
        status: 'failed',
        error: 'x',
        attempts: MAX_ATTEMPTS,
        createdAt: 9_000 - EXHAUSTED_MS,
        updatedAt: 10_000 - EXHAUSTED_MS,
      },
      { kind: 'take_over', attempts: 1 },
    ],
    [
      'that failed for the last time almost an hour ago is exhausted',
      { status: 'failed', error: 'x', attempts: MAX_ATTEMPTS, updatedAt: 10_001 - EXHAUSTED_MS },
      { kind: 'exhausted' },
    ],
    [
      'of a worker that died in the last attempt, an hour ago, is exhausted',
      { lockExpiresAt: 1, attempts: MAX_ATTEMPTS, updatedAt: 10_000 - EXHAUSTED_MS },
      { kind: 'exhausted' },
    ],
    [
      'with a run is never taken over, even if its lock is over',
      { runId: 'run_1', lockExpiresAt: 1 },
      { kind: 'replay' },
    ],
    [
      'with a run that failed is not taken over either',
      { runId: 'run_1', status: 'failed', error: 'x' },
      { kind: 'replay' },
    ],
    [
      'of another request conflicts',
      { requestHash: 'other', status: 'completed', response: 1 },
      { kind: 'conflict' },
    ],
    ['of another request in flight conflicts too', { requestHash: 'other' }, { kind: 'conflict' }],
    [
      'of another request that failed conflicts too',
      { requestHash: 'other', status: 'failed' },
      { kind: 'conflict' },
    ],
    ['that expires now is expired', { expiresAt: 10_000, status: 'completed' }, { kind: 'expired' }],
    ['that expires in a moment is not', { expiresAt: 10_001, status: 'completed' }, { kind: 'replay' }],
    ['that expired cannot conflict', { expiresAt: 1, requestHash: 'other' }, { kind: 'expired' }],
    [
      'of another tenant is not spoken of',
      { tenantId: 'other', status: 'completed', response: 1 },
      { kind: 'foreign_tenant' },
    ],
    [
      'of another tenant is not spoken of when it expired',
      { tenantId: 'other', expiresAt: 1 },
      { kind: 'foreign_tenant' },
    ],
  ])('%s', (_claim, fields, expected) => {
    expect(decideExisting(record(fields), request)).toEqual(expected);
  });

  test('is replayed only for the same tenant and request, and work begins only when no other attempt can be running', () => {
    const any = fc.record({
      tenantId: fc.constantFrom('acme', 'other'),
      requestHash: fc.constantFrom('same', 'other'),
      status: fc.constantFrom<IdempotencyRecord['status']>('processing', 'completed', 'failed'),
      runId: fc.option(fc.constant('run_1'), { nil: undefined }),
      response: fc.constantFrom<string | undefined>('answer', undefined),
      attempts: fc.integer({ min: 1, max: 5 }),
      lockExpiresAt: fc.option(fc.integer({ min: 9_998, max: 10_002 }), { nil: undefined }),
      expiresAt: fc.integer({ min: 9_998, max: 10_002 }),
    });
    fc.assert(
      fc.property(any, (fields) => {
        const existing = record(fields);
        const decision = decideExisting(existing, request);
        const ours = existing.tenantId === 'acme' && existing.requestHash === 'same';
        if (decision.kind === 'replay') expect(ours && existing.expiresAt > request.now).toBe(true);
        if (decision.kind === 'take_over') {
          expect(ours && existing.runId === undefined && existing.status !== 'completed').toBe(true);
          expect(decision.attempts).toBe(existing.attempts + 1);
          expect(decision.attempts).toBeLessThanOrEqual(MAX_ATTEMPTS);
          if (existing.status === 'processing')
            expect(existing.lockExpiresAt ?? Infinity).toBeLessThanOrEqual(request.now);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
