/** Members of a run document that retention reads and writes, and its own document. */
import { FieldValue } from '@google-cloud/firestore';
import type { ParentRef } from '../../core/run/events.ts';
import type { RunState, VolatileMetadata } from '../../core/run/state.ts';
import { RUN_STATUSES } from '../../core/run/status.ts';
import type { LineageMember, RetentionProgress } from '../../ports/runs/retention-store.ts';
import {
  documentCodec,
  integer,
  jsonList,
  type Members,
  map,
  oneOf,
  optional,
  text,
  time,
  words,
} from './kinds.ts';
import { decodeMetadata, encodeRetained } from './volatile-metadata.ts';

type LineageMembers = Pick<
  RunState,
  'id' | 'schemaVersion' | 'tenantId' | 'type' | 'status' | 'completedAt' | 'parent' | 'ties'
> & { readonly wakeAt?: number };

const members = documentCodec<LineageMembers>({
  id: text,
  schemaVersion: integer,
  tenantId: text,
  type: text,
  status: oneOf(RUN_STATUSES),
  completedAt: optional(time),
  parent: optional(map<ParentRef>({ runId: text, stepId: text, topRunId: optional(text) })),
  ties: jsonList<RunState['ties']>(),
  wakeAt: optional(time),
});

/** The members of a run document that retention checks; `ties` may be in pages. */
export const MEMBER_NAMES: readonly string[] = [...members.names, 'pages', 'soft'];

/** @throws NewerSchemaError, UndecodableDocument */
export function decodeMember(document: Members, what: string): Omit<LineageMember, 'version'> {
  const {
    id: runId,
    tenantId,
    type,
    status,
    completedAt,
    parent,
    ties,
    wakeAt,
  } = members.decode(document, what);
  const { legalHold: hold, deletionMarkedAt: markedAt } = decodeMetadata(document, what);
  return {
    runId,
    tenantId,
    type,
    status,
    completedAt,
    hasDuties: wakeAt !== undefined,
    hold,
    markedAt,
    parentRunId: parent?.runId,
    childRunIds: ties.flatMap((registration) => (registration.kind === 'child' ? [registration.runId] : [])),
  };
}

/** Sets one member of `soft`, and nothing else in the document; undefined removes it. */
export function encodeRetainedUpdate(
  name: 'legalHold' | 'deletionMarkedAt',
  value: Partial<VolatileMetadata>,
): Members {
  return { [`soft.${name}`]: encodeRetained(value)[name] ?? FieldValue.delete() };
}

export const progressCodec = documentCodec<RetentionProgress>({
  runs: optional(text),
  payloads: optional(text),
  underway: optional(words<string>()),
  erasure: optional(text),
});
