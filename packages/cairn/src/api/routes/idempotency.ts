/**
 * `GET /v1/idempotency/{key}`: outcome of the caller's request with this key. The principal is part of the record key,
 * so other callers' records are not visible, in any tenant.
 */
import type { IdempotencyRecord } from '../../core/decisions/idempotency.ts';
import { apiKey, readApiIdempotencyHeader } from '../../core/encoding/idempotency-keys.ts';
import { CairnError } from '../../core/errors.ts';
import { iso } from '../../core/run/readable.ts';
import type { ReadHandler } from '../route.ts';

/** Status of the first response to a start; its record keeps only the body. */
const CREATED = 201;

/** `key` is bare or quoted, like the header. @throws CairnError NOT_FOUND, IDEMPOTENCY_EXPIRED, INVALID_INPUT for an invalid key */
export const readIdempotency: ReadHandler<'GET /v1/idempotency/{key}'> = async ({ deps, caller, params }) => {
  const { records, clock } = deps;
  const key =
    readApiIdempotencyHeader((header) => (header === 'Idempotency-Key' ? params.key : undefined)) ?? '';
  const stored = await records.read(apiKey(caller.principal, key));
  if (stored?.record.tenantId !== caller.tenantId)
    throw new CairnError('NOT_FOUND', 'the caller has made no request with this idempotency key');
  const { record } = stored;
  // An expired record is deleted some time later. From then on the key is unknown.
  if (clock.now() >= record.expiresAt)
    throw new CairnError('IDEMPOTENCY_EXPIRED', `the record expired at ${iso(record.expiresAt)}`);
  return recordView(key, record);
};

/** `response`: status and body of the response to a repetition, if there is one yet. */
function recordView(key: string, record: IdempotencyRecord): Record<string, unknown> {
  const { status, runId, response, error, attempts } = record;
  const keptResponse = runId === undefined ? response : { status: CREATED, body: response };
  return {
    key,
    status,
    attempts,
    runId,
    response: response === undefined || status !== 'completed' ? undefined : keptResponse,
    error,
    createdAt: iso(record.createdAt),
    updatedAt: iso(record.updatedAt),
    expiresAt: iso(record.expiresAt),
  };
}
