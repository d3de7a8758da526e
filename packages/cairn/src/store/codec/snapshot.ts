/**
 * The run document: the folded state, its `soft` part, and members derived from them: `wakeAt`, `askingSince`, `waitsFor`,
 * `foundBy`, `listed`. Members that identify a run, with its input, are written only at creation. Every later write is masked
 * to the members that change.
 */
import { FieldValue, Timestamp } from '@google-cloud/firestore';
import type { BudgetState } from '../../core/budget/budget.ts';
import { NO_LOGS } from '../../core/logs/segment.ts';
import { optional as optionalMember } from '../../core/optional.ts';
import type { TaskRef } from '../../core/run/data/takeover.ts';
import { UNREAD_STORED_AS } from '../../core/run/data/unread-signals.ts';
import {
  type CheckpointRef,
  COMMON_SCHEMA_VERSION,
  type ParentRef,
  type RecordedError,
  type RunIdentity,
  STOP_KINDS,
  type SuccessorSource,
  type Trigger,
} from '../../core/run/events.ts';
import { type WaitsFor, waitsFor } from '../../core/run/now/waits-for.ts';
import { askingSince } from '../../core/run/open-questions.ts';
import type { Lease, RunState, Suspicion, VolatileMetadata } from '../../core/run/state.ts';
import { withAllMembers } from '../../core/run/state-shape.ts';
import { RUN_STATUSES } from '../../core/run/status.ts';
import { wakeAt } from '../../core/run/wake.ts';
import { LISTED_METADATA, listedMetadata, listedState, NOT_LISTED } from '../../core/search/listed.ts';
import {
  type ListedWaits,
  listedWaits,
  type StoredListing,
  storedListing,
} from '../../core/search/listing.ts';
import { indexedNames, storedNames } from '../../core/search/match-index.ts';
import type { ListedRun, SnapshotTouch } from '../../ports/run-store.ts';
import { pagesOf } from '../pages/spill.ts';
import {
  documentCodec,
  flag,
  integer,
  json,
  jsonList,
  jsonObject,
  kind,
  type Members,
  map,
  oneOf,
  optional,
  refuseNewer,
  renamed,
  storedValue,
  type Table,
  text,
  time,
  word,
  words,
} from './kinds.ts';
import { decodeSteps, encodeSteps, type Steps } from './steps-text.ts';
import { decodeMetadata, encodeCost, metadataCodec } from './volatile-metadata.ts';

type FixedMembers = RunIdentity & Pick<RunState, 'id' | 'shard' | 'createdAt'>;
type Changing = Omit<RunState, keyof FixedMembers>;

const errorKind = map<RecordedError>({
  code: text,
  message: text,
  stepId: optional(text),
  retryable: flag,
  trace: optional(text),
});

const stepsKind = kind<Steps>(encodeSteps, (raw) => decodeSteps(text.decode(raw)));

const fixedTable: Table<FixedMembers> = {
  id: text,
  shard: integer,
  createdAt: time,
  tenantId: text,
  environment: text,
  type: text,
  planVersion: integer,
  planFingerprint: optional(text),
  threadId: text,
  repoId: optional(text),
  prId: optional(text),
  prUrl: optional(text),
  tags: optional(words()),
  trigger: map<Trigger>({
    source: word(),
    userId: optional(text),
    webhookEventId: optional(text),
    slotAt: optional(time),
  }),
  idempotencyKey: optional(text),
  a2aCorrelationId: optional(text),
  traceId: text,
  traceSampled: optional(flag),
  inputHash: text,
  input: storedValue,
  inputFrom: optional(map<CheckpointRef>({ runId: text, checkpoint: integer })),
  secretInput: optional(
    map<NonNullable<RunIdentity['secretInput']>>({
      runId: text,
      sha256: text,
      bytes: integer,
      chunks: integer,
    }),
  ),
  rootRunId: text,
  resumedFrom: optional(text),
  source: optional(
    map<SuccessorSource>({
      runId: text,
      mode: word(),
      checkpointId: optional(text),
      checkpointHead: optional(text),
      stepId: optional(text),
      forcedBy: optional(text),
      signals: optional(word()),
    }),
  ),
  effectScopes: optional(jsonList<NonNullable<RunIdentity['effectScopes']>>()),
  parent: optional(map<ParentRef>({ runId: text, stepId: text, topRunId: optional(text) })),
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
  status: oneOf(RUN_STATUSES),
  stopKind: optional(oneOf(STOP_KINDS)),
  currentStep: optional(text),
  policySnapshotId: optional(text),
  policyDue: flag,
  head: integer,
  headHash: text,
  checkpointHead: integer,
  lease: optional(
    map<Lease>({
      owner: text,
      epoch: integer,
      expiresAt: time,
      task: optional(map<TaskRef>({ name: text, retryCount: integer })),
      aloneSince: optional(integer),
    }),
  ),
  epoch: integer,
  dueAt: optional(time),
  deadlineAt: optional(time),
  budget: optional(jsonObject<BudgetState>()),
  parked: optional(text),
  inFlight: jsonList<RunState['inFlight']>(),
  steps: stepsKind,
  waits: jsonList<RunState['waits']>(),
  unread: renamed(UNREAD_STORED_AS, jsonList<RunState['unread']>()),
  received: jsonList<RunState['received']>(),
  decisions: jsonList<RunState['decisions']>(),
  feedback: jsonList<RunState['feedback']>(),
  ties: jsonList<RunState['ties']>(),
  effects: jsonList<RunState['effects']>(),
  result: optional(storedValue),
  error: optional(errorKind),
  lastHandoff: optional(jsonList<NonNullable<RunState['lastHandoff']>>()),
  cancellation: optional(
    map<NonNullable<RunState['cancellation']>>({
      stopKind: word(),
      reason: optional(text),
      requestedAt: time,
      actor: optional(text),
      withoutUndo: optional(json<true>()),
    }),
  ),
  suspension: optional(
    map<NonNullable<RunState['suspension']>>({ reason: text, requestedAt: time, actor: optional(text) }),
  ),
  compensationLog: jsonList<RunState['compensationLog']>(),
  sentBack: jsonList<RunState['sentBack']>(),
  itemMarks: optional(jsonObject<NonNullable<RunState['itemMarks']>>()),
  compensating: flag,
  supersededBy: optional(text),
  replay: optional(word<NonNullable<RunState['replay']>>()),
  resumeCount: integer,
  interruptions: integer,
  suspect: optional(jsonObject<Suspicion>()),
  failures: optional(jsonObject<NonNullable<RunState['failures']>>()),
  startedAt: optional(time),
  updatedAt: time,
  completedAt: optional(time),
  durationMs: optional(integer),
};

const fixed = documentCodec(fixedTable);
const changing = documentCodec(changingTable);
const listing = documentCodec<{ listed?: StoredListing; waitsFor?: WaitsFor }>({
  listed: optional(jsonObject<StoredListing>()),
  waitsFor: optional(word<WaitsFor>()),
});
const allWaits = documentCodec({ waits: optional(jsonList<RunState['waits']>()) });

/** Every member that a run document can have; those after the state are not folded. */
export const SNAPSHOT_NAMES: readonly string[] = [
  ...fixed.names,
  ...changing.names,
  'pages',
  'wakeAt',
  'askingSince',
  'waitsFor',
  'foundBy',
  'listed',
  'soft',
  'lastHeartbeatAt',
];

/** The run document of a run that begins. */
export function encodeNewSnapshot(state: RunState, begun?: VolatileMetadata): Members {
  const at = wakeAt(state);
  const since = askingSince(state);
  return {
    ...(begun === undefined ? {} : { soft: metadataCodec.encode(begun) }),
    ...fixed.encode(state),
    ...changing.encode(state),
    ...(at === undefined ? {} : { wakeAt: Timestamp.fromMillis(at) }),
    ...(since === undefined ? {} : { askingSince: Timestamp.fromMillis(since) }),
    foundBy: storedNames(state),
    ...encodeListing(state),
  };
}

/**
 * A masked update: members that became absent are deleted, `soft` changes only as given. With a snapshot, `wakeAt` is
 * derived from state and extension; earlier heartbeats are ignored, because a premature scan is harmless. Without one,
 * an extension moves it.
 */
export function encodeSnapshotUpdate(change: Omit<SnapshotTouch, 'runId' | 'seen'>): Members {
  const update: Members = {};
  if (change.snapshot) {
    const members = changing.encode(change.snapshot);
    for (const name of changing.names) update[name] = members[name] ?? FieldValue.delete();
    update.wakeAt = timeOrDelete(wakeAt(change.snapshot, change.metadata));
    update.askingSince = timeOrDelete(askingSince(change.snapshot));
    Object.assign(update, { waitsFor: FieldValue.delete() }, encodeListing(change.snapshot));
    // A document of this version could have pages, and old ones would count.
    if (change.snapshot.schemaVersion > COMMON_SCHEMA_VERSION) update.pages = FieldValue.delete();
  }
  if (change.metadata?.heartbeat) {
    // Stored in two places: as a member of the run, and in the volatile metadata.
    update.lastHeartbeatAt = FieldValue.serverTimestamp();
    update['soft.lastHeartbeatAt'] = FieldValue.serverTimestamp();
  }
  if (change.metadata?.leaseExtendedTo !== undefined) {
    const extendedTo = Timestamp.fromMillis(change.metadata.leaseExtendedTo);
    update['soft.leaseExtendedTo'] = extendedTo;
    if (!change.snapshot) update.wakeAt = extendedTo;
  }
  if (change.metadata?.inFlight !== undefined)
    update['soft.inFlight'] = JSON.stringify(change.metadata.inFlight);
  if (change.metadata?.running !== undefined)
    update['soft.running'] = JSON.stringify(change.metadata.running);
  const { publishedSeq, publishDueAt } = change.metadata ?? {};
  if (publishedSeq !== undefined) update['soft.publishedSeq'] = publishedSeq;
  if (publishDueAt !== undefined) update['soft.publishDueAt'] = Timestamp.fromMillis(publishDueAt);
  if (change.metadata?.logged) update['soft.logs'] = { ...change.metadata.logged.totals };
  if (change.metadata?.cost) Object.assign(update, encodeCost(change.metadata.cost));
  if (change.metadata?.dutiesMet) {
    update['soft.obligationsMet'] = true;
    update.wakeAt = FieldValue.delete();
  }
  if (change.wakeAt !== undefined) update.wakeAt = Timestamp.fromMillis(change.wakeAt);
  if (change.asksNothing) update.askingSince = FieldValue.delete();
  return update;
}

/** The update after an append without the lease: the volatile metadata is kept, and counts for `wakeAt`. */
export function encodeUnleasedUpdate(snapshot: RunState, known: VolatileMetadata): Members {
  return { ...encodeSnapshotUpdate({ snapshot }), wakeAt: timeOrDelete(wakeAt(snapshot, known)) };
}

/** Writes every member from the state, whatever is stored. Volatile metadata stays, and is rewritten only if it was damaged. */
export function encodeRepairedSnapshot(
  state: RunState,
  known: VolatileMetadata,
  isMetadataDamaged: boolean,
): Members {
  const members = { ...fixed.encode(state), ...changing.encode(state) };
  const update: Members = {};
  for (const name of [...fixed.names, ...changing.names]) update[name] = members[name] ?? FieldValue.delete();
  update.wakeAt = timeOrDelete(wakeAt(state, known));
  update.askingSince = timeOrDelete(askingSince(state));
  update.foundBy = indexedNames(state);
  Object.assign(update, { waitsFor: FieldValue.delete() }, encodeListing(state));
  // The deletion of lines relies on this member, and it is unknown whether lines were kept.
  if (isMetadataDamaged) update.soft = metadataCodec.encode({ ...known, logs: known.logs ?? NO_LOGS });
  return update;
}

/**
 * Reads the document itself. Paged lists have only their newest entries unless `pages/` has restored the others.
 *
 * @throws NewerSchemaError, UndecodableDocument
 */
export function decodeSnapshot(document: Members, what: string): RunState {
  refuseNewer(document, what);
  const { of: schemaVersion } = pagesOf(document) ?? {};
  const state = withAllMembers({ ...fixed.decode(document, what), ...changing.decode(document, what) });
  return schemaVersion === undefined ? state : { ...state, schemaVersion };
}

/** Returns true if the run is marked for deletion and hidden from users; also for a damaged document. */
export function isMarkedToGo(document: Members): boolean {
  const { soft: stored } = document;
  return typeof stored === 'object' && stored !== null && 'deletionMarkedAt' in stored;
}

const listedFixed = documentCodec(listedOf(fixedTable));
const listedChanging = documentCodec(listedOf(changingTable));

/** Members of an error that lists show: all except the trace. */
const LISTED_ERROR: readonly string[] = ['code', 'message', 'stepId', 'retryable'];

/**
 * Members of a run document that lists read: without paged entries, and without members that only the run itself shows.
 */
export const LISTED_NAMES: readonly string[] = [
  ...listedFixed.names,
  ...listedChanging.names.filter((name) => name !== 'error'),
  ...LISTED_ERROR.map((name) => `error.${name}`),
  ...listing.names,
  'pages',
  'wakeAt',
  ...LISTED_METADATA.map((name) => `soft.${name}`),
  'soft.deletionMarkedAt',
];

/** A list may have to read the waits separately, for a run last written by a version of Cairn without `listed`. */
export type DecodedListed = Omit<ListedRun, 'waits'> & Partial<Pick<ListedRun, 'waits'>>;

/** Decodes a document that was read with at least {@link LISTED_NAMES}. @throws NewerSchemaError, UndecodableDocument */
export function decodeListed(document: Members, what: string): DecodedListed {
  refuseNewer(document, what);
  const state = { ...listedFixed.decode(document, what), ...listedChanging.decode(document, what) };
  const { of: schemaVersion = state.schemaVersion } = pagesOf(document) ?? {};
  const { wakeAt: at } = document;
  const { listed, waitsFor: waiting } = listing.decode(document, what);
  const current = listed?.head === state.head ? listed : undefined;
  const waits = current?.waits ?? decodeListedWaits(document, what);
  return {
    state: listedState({ ...state, schemaVersion }),
    metadata: listedMetadata(decodeMetadata(document, what)),
    ...(current ? { stepCounts: current.steps } : {}),
    ...(waits ? { waits } : {}),
    ...optionalMember('waitsFor', waiting),
    ...(at instanceof Timestamp ? { wakeAt: at.toMillis() } : {}),
  };
}

function encodeListing(state: RunState): Members {
  return listing.encode({ listed: storedListing(state), ...optionalMember('waitsFor', waitsFor(state)) });
}

/** Decodes the waits themselves; undefined if they were not read. @throws UndecodableDocument */
export function decodeListedWaits(document: Members, what: string): ListedWaits | undefined {
  const { waits } = allWaits.decode(document, what);
  return waits && listedWaits(waits);
}

function listedOf<T>(table: Table<T>): Table<Omit<T, (typeof NOT_LISTED)[number]>> {
  const unlisted: ReadonlySet<string> = new Set(NOT_LISTED);
  const listed = Object.entries(table).filter(([name]) => !unlisted.has(name));
  return Object.fromEntries(listed) as Table<Omit<T, (typeof NOT_LISTED)[number]>>;
}

function timeOrDelete(at: number | undefined): Timestamp | FieldValue {
  return at === undefined ? FieldValue.delete() : Timestamp.fromMillis(at);
}
