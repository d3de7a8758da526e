/** Documents that decide about requests: idempotency records and API clients. */
import type { IdempotencyRecord } from '../../core/decisions/idempotency.ts';
import type { Json } from '../../core/encoding/json.ts';
import type { ApiClient, RetiredSecret, Role } from '../../ports/access/client-store.ts';
import { documentCodec, flag, integer, json, optional, text, time, word, words } from './kinds.ts';

export const recordCodec = documentCodec<IdempotencyRecord>({
  key: text,
  source: word(),
  tenantId: text,
  runId: optional(text),
  status: word(),
  requestHash: text,
  response: optional(json<Json>()),
  error: optional(text),
  createdAt: time,
  updatedAt: time,
  expiresAt: time,
  lockExpiresAt: optional(time),
  attempts: integer,
  attemptId: optional(text),
});

export const clientCodec = documentCodec<ApiClient>({
  id: text,
  tenantId: text,
  roles: words<Role>(),
  secretHash: text,
  disabled: flag,
  createdAt: time,
  name: optional(text),
  createdBy: optional(text),
  retired: optional(json<readonly RetiredSecret[]>()),
  secretOf: optional(text),
});
