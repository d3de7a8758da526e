/** The documents under a run: events, checkpoints and step records. */
import type { CheckpointRef, PayloadRef, RunEvent, Writer } from '../../core/run/events.ts';
import type { Checkpoint, StepRecord } from '../../core/run/records.ts';
import {
  type DocumentCodec,
  documentCodec,
  flag,
  integer,
  jsonObject,
  map,
  optional,
  renamed,
  text,
  time,
  word,
} from './kinds.ts';

/** The type of an event decides its data. The table does not know this, so reading casts the event to the union. */
type PlainEvent = Omit<RunEvent, 'type' | 'data'> & {
  readonly type: RunEvent['type'];
  readonly data: RunEvent['data'];
};

const tokensUsed = map<NonNullable<Checkpoint['tokensUsed']>>({ input: integer, output: integer });

const payloadRef = map<PayloadRef>({ sha256: text, bytes: integer, chunks: integer });

const plainEventCodec = documentCodec<PlainEvent>({
  seq: integer,
  id: text,
  type: word(),
  at: time,
  initiator: word(),
  actor: optional(text),
  data: jsonObject<RunEvent['data']>(),
  schemaVersion: integer,
  writer: optional(map<Writer>({ owner: text, epoch: integer })),
  prevHash: text,
  hash: text,
});

export const eventCodec = plainEventCodec as unknown as DocumentCodec<RunEvent>;

export const checkpointCodec = documentCodec<Checkpoint>({
  seq: integer,
  boundary: word(),
  planVersion: integer,
  parent: integer,
  at: time,
  stepId: optional(text),
  itemKey: optional(text),
  revision: optional(integer),
  attempt: optional(integer),
  outcome: optional(word<NonNullable<Checkpoint['outcome']>>()),
  inputsHash: optional(text),
  request: optional(text),
  outputHash: optional(text),
  outputText: renamed('output', optional(text)),
  outputRef: optional(payloadRef),
  outputFrom: optional(map<CheckpointRef>({ runId: text, checkpoint: integer })),
  outputsSummary: optional(text),
  errorTrace: optional(text),
  agent: optional(text),
  tokensUsed: optional(tokensUsed),
  microUsd: optional(integer),
  resumable: optional(flag),
  idempotent: optional(flag),
  startedAt: optional(time),
  durationMs: optional(integer),
});

export const stepCodec = documentCodec<StepRecord>({
  id: text,
  kind: word(),
  status: word(),
  planVersion: integer,
  inputsHash: text,
  location: optional(text),
  outputsSummary: optional(text),
  errorTrace: optional(text),
  checkpoint: optional(integer),
  attempts: integer,
  startedAtMs: integer,
  updatedAtMs: integer,
  durationMs: optional(integer),
  revision: integer,
});
