/**
 * Members of each collection, as `firestore.indexes.json` needs them: by default Firestore indexes every field of every
 * collection, which costs money at each write. A test compares the names with the codecs that write them.
 */
import type { CollectionNames } from './collections.ts';

type Of = Readonly<Partial<Record<keyof CollectionNames, readonly string[]>>>;

/** A `-` means descending, an `@` an array that is searched for a member. */
export const COMPOSITES: Of = {
  runs: [
    'tenantId -createdAt',
    'tenantId status -createdAt',
    'tenantId waitsFor -createdAt',
    'tenantId stopKind -createdAt',
    'tenantId repoId -createdAt',
    'tenantId type -createdAt',
    'tenantId threadId -createdAt',
    'shard status lastHeartbeatAt',
    'shard wakeAt',
    'tenantId askingSince',
    '@foundBy tenantId -createdAt',
    'tenantId status type planVersion',
    'type shard wakeAt',
    'status type shard completedAt',
    'tenantId -durationMs',
    'tenantId type -durationMs',
    'tenantId shard -updatedAt',
  ],
  idempotency: ['shard status expiresAt'],
  schedules: ['state nextAt', 'tenantId -createdAt'],
  effects: ['runId createdAt', 'tenantId askingSince'],
  erasures: ['tenantHash -requestedAt', 'scope -requestedAt'],
};

/** Members queried alone: ascending, within one collection. */
export const INDEXED_ALONE: Of = {
  runs: ['rootRunId'],
  clients: ['tenantId'],
  idempotency: ['runId', 'tenantId'],
  waits: ['tenantId'],
  erasures: ['state'],
  findings: ['tenantId'],
};

/** Members by which Firestore deletes documents (TTL). Not for runs, because their subcollections would remain. */
export const EXPIRING: Of = {
  idempotency: ['expiresAt'],
  waits: ['expiresAt'],
  effects: ['expiresAt'],
  budgets: ['expiresAt'],
};

export const MEMBERS: Readonly<Record<keyof CollectionNames, readonly string[]>> = {
  runs: words(`
    id shard createdAt tenantId environment type planVersion threadId repoId prId prUrl tags planFingerprint
    trigger idempotencyKey a2aCorrelationId traceId traceSampled inputHash input inputFrom secretInput
    rootRunId itemMarks sentBack pages resumedFrom source parent versions schemaVersion status stopKind
    currentStep policySnapshotId head headHash checkpointHead lease epoch dueAt inFlight steps waits
    inbox received decisions feedback ties result error lastHandoff cancellation compensationLog
    suspension compensating supersededBy replay resumeCount interruptions suspect failures policyDue
    deadlineAt parked startedAt updatedAt completedAt durationMs wakeAt askingSince waitsFor foundBy
    listed soft lastHeartbeatAt effects effectScopes budget
  `),
  events: words('seq id type at initiator actor data schemaVersion writer prevHash hash'),
  checkpoints: words(`
    seq boundary planVersion parent at stepId itemKey revision attempt outcome inputsHash request outputHash
    output outputRef outputFrom outputsSummary errorTrace agent tokensUsed microUsd resumable idempotent
    startedAt durationMs
  `),
  steps: words(`
    id kind status planVersion inputsHash location outputsSummary errorTrace checkpoint attempts startedAtMs
    updatedAtMs durationMs revision
  `),
  payloads: words('data'),
  pages: words('text'),
  logs: words('lines'),
  memos: words('revision name value'),
  plans: words('type planVersion fingerprint planText createdAt by'),
  idempotency: words(`
    key shard source tenantId runId status requestHash response error createdAt updatedAt expiresAt
    lockExpiresAt attempts attemptId
  `),
  waits: words('tenantId event key waiting early delivered expiresAt'),
  clients: words('id tenantId roles secretHash disabled createdAt name createdBy retired secretOf'),
  config: words(
    `killSwitch paused restore home runs payloads underway erasure recoverRuns fireSchedules checkRuns deleteExpired found installations`,
  ),
  erasures: words(
    'id scope tenantHash tenantId roots state position keptBy gone requestedAt requestedBy finishedAt',
  ),
  findings: words('runId tenantId type head stepId reason message since lastAt'),
  budgets: words('tenantId day limits raised raises spent holds largest expiresAt'),
  schedules: words(`
    id tenantId origin state name type cron timezone input catchUp settledUntil nextAt pause last
    lastCatchUp fired skipped refused createdAt updatedAt createdBy
  `),
  effects: words(`
    effectId idempotencyKey n tenantId rootRunId runId stepId itemKey revision attempt epoch
    capabilityId bindingId call bindingCallId effectClass replayPolicy status blockedBy requestHash
    requestText responseHash resultText recordedResultRef askedBy policyReason originEffectId error resolution
    lateAnswer presumedAt askingSince keepMs expiresAt calledAt createdAt updatedAt
  `),
};

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
