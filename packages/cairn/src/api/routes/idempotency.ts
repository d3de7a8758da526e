/**
 * `GET /v1/idempotency/{key}`: what became of a request the caller sent with this key. Only ever the caller's own: the
 * principal is part of what a record is found by, so other callers' keys are not there, whatever their tenant.
 */
import type { IdempotencyRecord } from '../../core/decisions/idempotency.ts';
import { apiKey, readApiIdempotencyHeader } from '../../core/encoding/keys.ts';
import { CairnError } from '../../core/errors.ts';
import type { Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { principalOf } from '../mutation.ts';
import { readQuery } from '../query.ts';
import { iso } from '../views/values.ts';

/** What a start is answered with the first time; its record keeps the body only. */
const CREATED = 201;

export interface KeyAddress {
  /** As it stands in the path, decoded; bare or quoted, like the header. */
  readonly key: string;
  readonly url: string;
}

/** @throws CairnError NOT_FOUND, IDEMPOTENCY_EXPIRED, INVALID_INPUT for what can be no key */
export async function readIdempotency({ start }: ApiDeps, caller: Caller, at: KeyAddress): Promise<Response> {
  readQuery(at.url, []);
  const key = readApiIdempotencyHeader((header) => (header === 'Idempotency-Key' ? at.key : undefined)) ?? '';
  const stored = await start.records.read(apiKey(principalOf(caller), key));
  if (stored?.record.tenantId !== caller.tenantId)
    throw new CairnError('NOT_FOUND', 'the caller has made no request with this idempotency key');
  const { record } = stored;
  // Deleted some time after it expires; from then on it is as unknown as one that never was.
  if (start.clock.now() >= record.expiresAt)
    throw new CairnError('IDEMPOTENCY_EXPIRED', `the record expired at ${iso(record.expiresAt)}`);
  return Response.json(recordView(key, record));
}

/** `response`: status and body that a repetition of the request is answered with, once there are any. */
function recordView(key: string, record: IdempotencyRecord): Record<string, unknown> {
  const { status, runId, response, error, attempts } = record;
  const kept = runId === undefined ? response : { status: CREATED, body: response };
  return {
    key,
    status,
    attempts,
    ...(runId === undefined ? {} : { runId }),
    ...(response === undefined ? {} : { response: kept }),
    ...(error === undefined ? {} : { error }),
    createdAt: iso(record.createdAt),
    updatedAt: iso(record.updatedAt),
    expiresAt: iso(record.expiresAt),
  };
}
