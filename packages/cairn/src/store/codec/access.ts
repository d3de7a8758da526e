/** Documents that decide about requests: idempotency records and API clients. */
import type { IdempotencyRecord } from '../../core/decisions/idempotency.ts';
import { shardOf } from '../../core/encoding/ids.ts';
import type { Json } from '../../core/encoding/json.ts';
import type { ApiClient, RetiredSecret, Role } from '../../ports/access/client-store.ts';
import {
  type DocumentCodec,
  documentCodec,
  flag,
  integer,
  json,
  jsonList,
  type Members,
  optional,
  text,
  time,
  word,
  words,
} from './kinds.ts';

const sharded = documentCodec<IdempotencyRecord & { readonly shard?: number }>({
  key: text,
  shard: optional(integer),
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

/** The shard serves only the index over the expiry of records. Records of earlier versions have none. */
export const recordCodec: DocumentCodec<IdempotencyRecord> = {
  names: sharded.names,
  encode: (record) => encodeRecord(record),
  decode(document, what) {
    const { shard: _, ...record } = sharded.decode(document, what);
    return record;
  },
};

export function encodeRecord(record: IdempotencyRecord, shards?: number): Members {
  return sharded.encode({ ...record, shard: shardOf(record.key, shards) });
}

export const clientCodec = documentCodec<ApiClient>({
  id: text,
  tenantId: text,
  roles: words<Role>(),
  secretHash: text,
  disabled: flag,
  createdAt: time,
  name: optional(text),
  createdBy: optional(text),
  retired: optional(jsonList<readonly RetiredSecret[]>()),
  secretOf: optional(text),
});
