/** Rows of the side-effect ledger. */
import { FieldValue } from '@google-cloud/firestore';
import type {
  AskingEffect,
  AttemptedEffect,
  EffectChange,
  EffectRecord,
  EffectResolution,
  FailedEffect,
  LateResponse,
  RecordedEffect,
  RepeatingEffect,
  ResultRef,
  ReusedEffect,
} from '../../core/effects/effect.ts';
import { UndecodableDocument } from '../../ports/store-errors.ts';
import {
  type DocumentCodec,
  documentCodec,
  integer,
  json,
  type Kind,
  type Members,
  map,
  type OptionalKind,
  optional,
  refuseNewer,
  text,
  time,
  word,
} from './kinds.ts';

function refused(): never {
  throw new Error('does not go with the status of the row');
}

/** A member that rows of this status do not have. */
const absent: OptionalKind<never> = { optional: true, encode: refused, decode: refused };

const row = {
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
  requestHash: text,
  requestText: optional(text),
  responseHash: absent,
  resultText: absent,
  recordedResultRef: absent,
  blockedBy: absent,
  originEffectId: absent,
  askedBy: optional(text),
  policyReason: optional(text),
  error: optional(text),
  resolution: absent,
  lateAnswer: optional(map<LateResponse>({ at: time, responseHash: optional(text), error: optional(text) })),
  presumedAt: optional(time),
  askingSince: optional(time),
  keepMs: optional(integer),
  expiresAt: optional(time),
  calledAt: optional(time),
  createdAt: time,
  updatedAt: time,
};

const resolution = optional(
  map<EffectResolution>({ outcome: word(), by: text, at: time, note: optional(text) }),
);

const resultRef = map<ResultRef>({ runId: text, sha256: text, bytes: integer, chunks: integer });
const origin = { originEffectId: text };

const attempted = documentCodec<AttemptedEffect>({ ...row, status: word() });
const answered = { ...row, status: word<'recorded'>(), responseHash: text, resolution };
const recordedInline = documentCodec<Extract<RecordedEffect, { resultText: string }>>({
  ...answered,
  resultText: text,
});
const recordedElsewhere = documentCodec<Extract<RecordedEffect, { recordedResultRef: ResultRef }>>({
  ...answered,
  recordedResultRef: resultRef,
});
const reused = documentCodec<ReusedEffect>({ ...row, ...origin, status: word(), responseHash: text });
const failed = documentCodec<FailedEffect>({ ...row, status: word(), resolution });
const asking = documentCodec<AskingEffect>({ ...row, status: word(), blockedBy: word(), resolution });
const repeating = documentCodec<RepeatingEffect>({
  ...row,
  ...origin,
  status: word(),
  blockedBy: word(),
  resolution,
});

/** Decoded by status: this software never writes a row with a member that its status excludes. */
export const effectCodec: DocumentCodec<EffectRecord> = {
  names: attempted.names,
  encode(record) {
    const codec = codecOf(record);
    if (!codec) throw new Error(`effect ${record.effectId} has no such status`);
    return codec.encode(record);
  },
  decode(document, what) {
    refuseNewer(document, what);
    const codec = codecOf(document);
    if (!codec) throw new UndecodableDocument(`${what}: member 'status' or 'blockedBy' has no such value`);
    const record = codec.decode(document, what);
    const { policyReason = reasonInError(record) } = record;
    return policyReason === undefined ? record : { ...record, policyReason };
  },
};

/** Rows of earlier versions have the reason of a policy only in `error`. */
function reasonInError({ blockedBy, error }: EffectRecord): string | undefined {
  if (blockedBy !== 'confirmation') return undefined;
  return / requires confirmation by an operator: (.*)$/s.exec(error ?? '')?.[1];
}

function codecOf({
  status,
  blockedBy,
  recordedResultRef,
}: { readonly [K in 'status' | 'blockedBy' | 'recordedResultRef']?: unknown }):
  | DocumentCodec<EffectRecord>
  | undefined {
  switch (status === 'blocked' ? blockedBy : status) {
    case 'attempted':
      return attempted;
    case 'recorded':
      return recordedResultRef === undefined ? recordedInline : recordedElsewhere;
    case 'reused':
      return reused;
    case 'failed':
      return failed;
    case 'doubt':
    case 'confirmation':
      return asking;
    case 'policy':
    case 'mismatch':
      return repeating;
    default:
      return undefined;
  }
}

const changeable = {
  responseHash: text,
  resultText: text,
  recordedResultRef: resultRef,
  status: text,
  blockedBy: text,
  attempt: integer,
  epoch: integer,
  bindingCallId: text,
  askedBy: text,
  error: text,
  resolution,
  lateAnswer: row.lateAnswer,
  askingSince: time,
  expiresAt: time,
  calledAt: time,
  updatedAt: time,
};

/** Members to write for a change; an undefined member is deleted. */
export function encodeEffectChange(change: EffectChange): Members {
  const members: Members = {};
  for (const [name, value] of Object.entries(change)) {
    const kind = changeable[name as keyof EffectChange] as Kind<unknown>;
    members[name] = value === undefined ? FieldValue.delete() : kind.encode(value);
  }
  return members;
}
