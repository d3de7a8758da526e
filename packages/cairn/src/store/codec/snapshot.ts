/**
 * The run document: the folded state, its `soft` part, and what is derived from them: `wakeAt`, `askingSince`, `foundBy`. What identifies a
 * run, its input included, is written at creation only; every later write is masked to the part that changes.
 */
import { FieldValue, Timestamp } from '@google-cloud/firestore';
import { BILLED, type Spent } from '../../core/cost/cost.ts';
import type { LegalHold } from '../../core/retention/lineage.ts';
import { askingSince } from '../../core/run/asking.ts';
import type {
  CheckpointRef,
  RecordedError,
  RunIdentity,
  SuccessorSource,
  Trigger,
} from '../../core/run/events.ts';
import type { Lease, RunState, SoftState } from '../../core/run/state.ts';
import type { RunStatus } from '../../core/run/status.ts';
import { wakeAt } from '../../core/run/wake.ts';
import { foundBy } from '../../core/search/found-by.ts';
import type { ListedRun, SnapshotTouch } from '../../ports/run-store.ts';
import { increment } from '../commits/increment.ts';
import {
  documentCodec,
  flag,
  integer,
  json,
  kind,
  type Members,
  map,
  optional,
  refuseNewer,
  storedValue,
  type Table,
  text,
  time,
  word,
} from './kinds.ts';
import { decodeSteps, encodeSteps, type Steps } from './steps-text.ts';

type Fixed = RunIdentity & Pick<RunState, 'id' | 'shard' | 'createdAt'>;
type Changing = Omit<RunState, keyof Fixed>;

const errorKind = map<RecordedError>({
  code: text,
  message: text,
  stepId: optional(text),
  retryable: flag,
  trace: optional(text),
});

const stepsKind = kind<Steps>(encodeSteps, (raw) => decodeSteps(text.decode(raw)));

const fixedTable: Table<Fixed> = {
  id: text,
  shard: integer,
  createdAt: time,
  tenantId: text,
  environment: text,
  type: text,
  planVersion: integer,
  threadId: text,
  repoId: optional(text),
  prId: optional(text),
  prUrl: optional(text),
  trigger: map<Trigger>({ source: word(), userId: optional(text), webhookEventId: optional(text) }),
  idempotencyKey: optional(text),
  a2aCorrelationId: optional(text),
  traceId: text,
  traceSampled: optional(flag),
  inputHash: text,
  input: storedValue,
  inputFrom: optional(map<CheckpointRef>({ runId: text, checkpoint: integer })),
  rootRunId: text,
  resumedFrom: optional(text),
  source: optional(
    map<SuccessorSource>({
      runId: text,
      mode: word(),
      checkpointId: optional(text),
      stepId: optional(text),
      forcedBy: optional(text),
    }),
  ),
  effectScopes: optional(json<NonNullable<RunIdentity['effectScopes']>>()),
  parent: optional(map<NonNullable<RunIdentity['parent']>>({ runId: text, stepId: text })),
  versions: optional(
    map<NonNullable<RunIdentity['versions']>>({
      capabilities: optional(text),
      bindings: optional(text),
      registryRef: optional(text),
    }),
  ),
};

const changingTable: Table<Changing> = {
  schemaVersion: integer,
  status: word<RunStatus>(),
  stopKind: optional(word<NonNullable<RunState['stopKind']>>()),
  currentStep: optional(text),
  policySnapshotId: optional(text),
  policyDue: flag,
  head: integer,
  headHash: text,
  checkpointHead: integer,
  lease: optional(map<Lease>({ owner: text, epoch: integer, expiresAt: time })),
  epoch: integer,
  dueAt: optional(time),
  deadlineAt: optional(time),
  parked: optional(text),
  inFlight: json<RunState['inFlight']>(),
  steps: stepsKind,
  waits: json<RunState['waits']>(),
  inbox: json<RunState['inbox']>(),
  received: json<RunState['received']>(),
  decisions: json<RunState['decisions']>(),
  feedback: json<RunState['feedback']>(),
  ties: json<RunState['ties']>(),
  effects: json<RunState['effects']>(),
  result: optional(storedValue),
  error: optional(errorKind),
  lastHandoff: optional(json<NonNullable<RunState['lastHandoff']>>()),
  cancellation: optional(
    map<NonNullable<RunState['cancellation']>>({
      stopKind: word(),
      reason: optional(text),
      requestedAt: time,
      actor: optional(text),
    }),
  ),
  compensationLog: json<RunState['compensationLog']>(),
  sentBack: json<RunState['sentBack']>(),
  compensating: flag,
  supersededBy: optional(text),
  replay: optional(word<NonNullable<RunState['replay']>>()),
  resumeCount: integer,
  interruptions: integer,
  startedAt: optional(time),
  updatedAt: time,
  completedAt: optional(time),
  durationMs: optional(integer),
};

const fixed = documentCodec(fixedTable);
const changing = documentCodec(changingTable);
const soft = documentCodec<SoftState>({
  lastHeartbeatAt: optional(time),
  leaseExtendedTo: optional(time),
  obligationsMet: optional(flag),
  publishedSeq: optional(integer),
  publishDueAt: optional(time),
  firstEventId: optional(text),
  inFlight: optional(json<NonNullable<SoftState['inFlight']>>()),
  cost: optional(
    map<Spent>({
      reads: optional(integer),
      writes: optional(integer),
      deletes: optional(integer),
      tasks: optional(integer),
    }),
  ),
  legalHold: optional(map<LegalHold>({ by: text, at: time, reason: text })),
  deletionMarkedAt: optional(time),
});

/** Every member a run document can have; those after the state are not folded. */
export const SNAPSHOT_NAMES: readonly string[] = [
  ...fixed.names,
  ...changing.names,
  'wakeAt',
  'askingSince',
  'foundBy',
  'soft',
  'lastHeartbeatAt',
];

/** The run document of a run that begins. */
export function encodeNewSnapshot(state: RunState, begun?: SoftState): Members {
  const at = wakeAt(state);
  const since = askingSince(state);
  return {
    ...(begun === undefined ? {} : { soft: soft.encode(begun) }),
    ...fixed.encode(state),
    ...changing.encode(state),
    ...(at === undefined ? {} : { wakeAt: Timestamp.fromMillis(at) }),
    ...(since === undefined ? {} : { askingSince: Timestamp.fromMillis(since) }),
    foundBy: foundBy(state),
  };
}

/**
 * A masked update: members that became absent are deleted, `soft` changes only as told. With a snapshot, `wakeAt` is
 * what state and extension imply; how far earlier heartbeats had come is not looked up, since too early a look is
 * harmless. Without one, an extension moves it.
 */
export function encodeSnapshotUpdate(change: Omit<SnapshotTouch, 'runId' | 'seen'>): Members {
  const update: Members = {};
  if (change.snapshot) {
    const members = changing.encode(change.snapshot);
    for (const name of changing.names) update[name] = members[name] ?? FieldValue.delete();
    update.wakeAt = timeOrDelete(wakeAt(change.snapshot, change.soft));
    update.askingSince = timeOrDelete(askingSince(change.snapshot));
  }
  if (change.soft?.heartbeat) {
    // Where the run lifecycle text has it, and in the part that is ours.
    update.lastHeartbeatAt = FieldValue.serverTimestamp();
    update['soft.lastHeartbeatAt'] = FieldValue.serverTimestamp();
  }
  if (change.soft?.leaseExtendedTo !== undefined) {
    const extendedTo = Timestamp.fromMillis(change.soft.leaseExtendedTo);
    update['soft.leaseExtendedTo'] = extendedTo;
    if (!change.snapshot) update.wakeAt = extendedTo;
  }
  if (change.soft?.inFlight !== undefined) update['soft.inFlight'] = JSON.stringify(change.soft.inFlight);
  const { publishedSeq, publishDueAt } = change.soft ?? {};
  if (publishedSeq !== undefined) update['soft.publishedSeq'] = publishedSeq;
  if (publishDueAt !== undefined) update['soft.publishDueAt'] = Timestamp.fromMillis(publishDueAt);
  for (const what of BILLED) {
    const amount = change.soft?.cost?.[what];
    if (amount !== undefined) update[`soft.cost.${what}`] = increment(amount);
  }
  if (change.soft?.obligationsMet) {
    update['soft.obligationsMet'] = true;
    update.wakeAt = FieldValue.delete();
  }
  if (change.wakeAt !== undefined) update.wakeAt = Timestamp.fromMillis(change.wakeAt);
  if (change.asksNothing) update.askingSince = FieldValue.delete();
  return update;
}

/** After an event of others, by who knows what is not folded: that stays, and counts for `wakeAt`. */
export function encodeOutsideUpdate(snapshot: RunState, known: SoftState): Members {
  return { ...encodeSnapshotUpdate({ snapshot }), wakeAt: timeOrDelete(wakeAt(snapshot, known)) };
}

/**
 * Every member as the state says, whatever stands there; what is not folded stays, or is written anew where it was
 * damaged.
 */
export function encodeRepairedSnapshot(state: RunState, known: SoftState, isSoftDamaged: boolean): Members {
  const members = { ...fixed.encode(state), ...changing.encode(state) };
  const update: Members = {};
  for (const name of [...fixed.names, ...changing.names]) update[name] = members[name] ?? FieldValue.delete();
  update.wakeAt = timeOrDelete(wakeAt(state, known));
  update.askingSince = timeOrDelete(askingSince(state));
  update.foundBy = foundBy(state);
  if (isSoftDamaged) update.soft = soft.encode(known);
  return update;
}

/** @throws NewerSchemaError, UndecodableDocument */
export function decodeSnapshot(document: Members, what: string): RunState {
  refuseNewer(document, what);
  return { ...fixed.decode(document, what), ...changing.decode(document, what) };
}

/** As much of the part that is not folded as can be read, and the names of its members that cannot. */
export function salvageSoft(document: Members): {
  readonly soft: SoftState;
  readonly damaged: readonly string[];
} {
  const stored = document.soft ?? {};
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored))
    return { soft: {}, damaged: ['soft'] };
  let salvaged: SoftState = {};
  const damaged: string[] = [];
  for (const [name, member] of Object.entries(stored)) {
    try {
      salvaged = { ...salvaged, ...soft.decode({ [name]: member }, name) };
    } catch {
      damaged.push(`soft.${name}`);
    }
  }
  return { soft: salvaged, damaged };
}

/** What retention has written: the mark of a run that is to go, and what holds it. */
export function encodeRetained(kept: Pick<SoftState, 'legalHold' | 'deletionMarkedAt'>): Members {
  return soft.encode(kept);
}

/** Whether the run is about to be deleted, and for people not there any more; also of a damaged document. */
export function isMarkedToGo(document: Members): boolean {
  const { soft: stored } = document;
  return typeof stored === 'object' && stored !== null && 'deletionMarkedAt' in stored;
}

/** Both parts of a run document. @throws NewerSchemaError, UndecodableDocument */
export function decodeListed(document: Members, what: string): ListedRun {
  return { state: decodeSnapshot(document, what), soft: decodeSoft(document, what) };
}

export function decodeSoft(document: Members, what: string): SoftState {
  return soft.decode((document.soft ?? {}) as Members, what);
}

function timeOrDelete(at: number | undefined): Timestamp | FieldValue {
  return at === undefined ? FieldValue.delete() : Timestamp.fromMillis(at);
}
