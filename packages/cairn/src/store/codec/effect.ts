/** Rows of the side-effect ledger. */
import { FieldValue, Timestamp } from '@google-cloud/firestore';
import type { EffectChange, EffectRecord, ResultRef } from '../../core/effects/effect.ts';
import { documentCodec, integer, json, type Members, map, optional, text, time, word } from './kinds.ts';

const table = {
  effectId: text,
  idempotencyKey: text,
  n: integer,
  tenantId: text,
  rootRunId: text,
  runId: text,
  stepId: text,
  itemKey: optional(text),
  revision: integer,
  attempt: integer,
  epoch: integer,
  capabilityId: text,
  bindingId: text,
  call: optional(json<string | number>()),
  bindingCallId: text,
  effectClass: word<EffectRecord['effectClass']>(),
  replayPolicy: word<EffectRecord['replayPolicy']>(),
  status: word<EffectRecord['status']>(),
  blockedBy: optional(word<NonNullable<EffectRecord['blockedBy']>>()),
  requestHash: text,
  requestText: optional(text),
  responseHash: optional(text),
  resultText: optional(text),
  recordedResultRef: optional(map<ResultRef>({ runId: text, sha256: text, bytes: integer, chunks: integer })),
  askedBy: optional(text),
  originEffectId: optional(text),
  error: optional(text),
  resolution: optional(
    map<NonNullable<EffectRecord['resolution']>>({
      outcome: word(),
      by: text,
      at: time,
      note: optional(text),
    }),
  ),
  lateAnswer: optional(
    map<NonNullable<EffectRecord['lateAnswer']>>({
      at: time,
      responseHash: optional(text),
      error: optional(text),
    }),
  ),
  presumedAt: optional(time),
  askingSince: optional(time),
  createdAt: time,
  updatedAt: time,
} as const;

export const effectCodec = documentCodec<EffectRecord>(table);

/** Members to write for a change; one that is undefined is taken away. */
export function encodeEffectChange(change: EffectChange): Members {
  const members: Members = {};
  for (const [name, value] of Object.entries(change)) {
    const kind = table[name as keyof EffectChange] as { encode(value: unknown): unknown };
    members[name] = value === undefined ? FieldValue.delete() : kind.encode(value);
  }
  return members;
}

/** The order in which a run made its rows: what a list of them starts after. */
export function madeAt(ms: number): Timestamp {
  return Timestamp.fromMillis(ms);
}
