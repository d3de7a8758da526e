/**
 * The queries of the stores that need an index, each with that index and a way to make the store ask it so that next to
 * nothing is read. They are asked through the stores' own methods, so that no query here can differ from the one that
 * counts; a test holds the table against `firestore.indexes.json`.
 */
import type { Firestore } from '@google-cloud/firestore';
import type { IndexNeed } from '../../ports/diagnosis/store-look.ts';
import { FirestoreClientStore } from '../firestore-client-store.ts';
import { FirestoreEffectStore } from '../firestore-effect-store.ts';
import { FirestoreRunStatistics } from '../firestore-run-statistics.ts';
import { FirestoreScheduleStore } from '../firestore-schedule-store.ts';
import { FirestoreRunSample } from '../integrity/firestore-run-sample.ts';
import { FirestoreRunFinder } from '../lists/firestore-run-finder.ts';
import { RunLists } from '../lists/run-lists.ts';
import { Shards } from '../lists/shards.ts';
import { Paths } from '../paths.ts';
import { FirestoreErasureStore } from '../retention/firestore-erasure-store.ts';
import { FirestoreRetentionStore } from '../retention/firestore-retention-store.ts';
import { FirestoreFindingStore } from './firestore-finding-store.ts';

export interface IndexProbe extends IndexNeed {
  ask(): Promise<unknown>;
}

/** A name and times that match nothing: every query is empty, which is billed as one read. */
const NOBODY = '~nobody';
const NEVER = 0;
const AGES_AHEAD = Date.UTC(9000, 0);
const ONE = { limit: 1 };

export function indexProbes(db: Firestore, prefix?: string): readonly IndexProbe[] {
  const paths = new Paths(db, prefix);
  // One, and none beyond: each probe asks its own query and no other.
  const shards = new Shards(paths, 1, 1);
  const lists = new RunLists(paths, shards);
  const finder = new FirestoreRunFinder(db, prefix, shards);
  const statistics = new FirestoreRunStatistics(db, prefix, shards);
  const sample = new FirestoreRunSample(db, prefix, shards);
  const schedules = new FirestoreScheduleStore(db, prefix);
  const effects = new FirestoreEffectStore(db, prefix);
  const retention = new FirestoreRetentionStore(db, prefix, shards);
  const erasures = new FirestoreErasureStore(db, prefix);
  const clients = new FirestoreClientStore(db, prefix);
  const findings = new FirestoreFindingStore(db, prefix);
  const runs = paths.runs().id;
  const tenantId = NOBODY;
  const bucket = { status: 'completed', type: NOBODY } as const;
  const listBy = (field: 'repoId' | 'type' | 'threadId', what: string): IndexProbe => ({
    collection: runs,
    fields: ['tenantId', field, '-createdAt'],
    serves: `lists of the runs of a ${what}`,
    ask: () => lists.listRuns({ tenantId, [field]: NOBODY }, ONE),
  });
  return [
    {
      collection: runs,
      fields: ['tenantId', '-createdAt'],
      serves: 'lists of runs',
      ask: () => lists.listRuns({ tenantId }, ONE),
    },
    {
      collection: runs,
      fields: ['tenantId', 'status', '-createdAt'],
      serves: 'lists and counts of runs by status',
      ask: () => lists.listRuns({ tenantId, status: 'pending' }, ONE),
    },
    {
      collection: runs,
      fields: ['tenantId', 'waitsFor', '-createdAt'],
      serves: 'lists and counts of waiting runs',
      ask: () => lists.listRuns({ tenantId, waitsFor: 'awaiting_approval' }, ONE),
    },
    {
      collection: runs,
      fields: ['tenantId', 'stopKind', '-createdAt'],
      serves: 'lists of halted runs',
      ask: () => lists.listRuns({ tenantId, stopKind: ['halt'] }, ONE),
    },
    listBy('repoId', 'repository'),
    listBy('type', 'workflow'),
    listBy('threadId', 'thread'),
    {
      collection: runs,
      fields: ['tenantId', '-durationMs'],
      serves: 'lists of the longest runs',
      ask: () => finder.ordered('longest', { tenantId }, ONE),
    },
    {
      collection: runs,
      fields: ['tenantId', 'type', '-durationMs'],
      serves: 'lists of the longest runs of a workflow',
      ask: () => finder.ordered('longest', { tenantId, type: NOBODY }, ONE),
    },
    {
      collection: runs,
      fields: ['tenantId', 'shard', '-updatedAt'],
      serves: 'lists of the runs that changed last',
      ask: () => finder.ordered('updated', { tenantId }, ONE),
    },
    {
      collection: runs,
      fields: ['tenantId', 'askingSince'],
      serves: 'the inbox',
      ask: () => finder.asking(tenantId, ONE),
    },
    {
      collection: runs,
      fields: ['foundBy', 'tenantId', '-createdAt'],
      serves: 'the search for runs',
      ask: () => finder.named(tenantId, NOBODY, 1),
    },
    {
      collection: runs,
      fields: ['shard', 'wakeAt'],
      serves: 'the scan for overdue runs',
      ask: () => lists.dueByIndex(NEVER, 1),
    },
    {
      collection: runs,
      fields: ['shard', 'status', 'lastHeartbeatAt'],
      serves: 'the scan for runs that missed a heartbeat',
      ask: () => lists.silentRuns({ after: AGES_AHEAD, until: AGES_AHEAD + 1 }, 1),
    },
    {
      collection: runs,
      fields: ['type', 'shard', 'wakeAt'],
      serves: 'unpausing a workflow',
      ask: () => statistics.due({ until: NEVER, type: NOBODY, limit: 1 }),
    },
    {
      collection: runs,
      fields: ['tenantId', 'status', 'type', 'planVersion'],
      serves: 'counts of runs by workflow version',
      ask: () => statistics.liveVersions(tenantId, 1),
    },
    {
      collection: runs,
      fields: ['status', 'type', 'shard', 'completedAt'],
      serves: 'deletion of runs past their retention period',
      ask: () => retention.ended({ bucket, until: NEVER, after: undefined, limit: 1 }),
    },
    {
      collection: runs,
      fields: ['rootRunId'],
      serves: 'deletion of runs past their retention period',
      ask: () => retention.lineage(NOBODY, 1),
    },
    {
      collection: paths.idempotencyRecords().id,
      fields: ['shard', 'status', 'expiresAt'],
      serves: 'the hourly check of a sample of runs, and the probe for expired records',
      ask: () => sample.startedSince(AGES_AHEAD, 1),
    },
    {
      collection: paths.schedules().id,
      fields: ['state', 'nextAt'],
      serves: 'schedules, which do not fire without it',
      ask: () => schedules.dueByIndex(NEVER, 1),
    },
    {
      collection: paths.schedules().id,
      fields: ['tenantId', '-createdAt'],
      serves: 'lists of schedules',
      ask: () => schedules.list(tenantId, ONE),
    },
    {
      collection: paths.effects().id,
      fields: ['runId', 'createdAt'],
      serves: 'lists of effects, checks, and deletion',
      ask: () => effects.listOfRun(NOBODY, ONE),
    },
    {
      collection: paths.effects().id,
      fields: ['tenantId', 'askingSince'],
      serves: 'effects without a run in the inbox',
      ask: () => effects.asking(NOBODY, 0, 1),
    },
    {
      collection: paths.clients().id,
      fields: ['tenantId'],
      serves: 'the list of API clients',
      ask: () => clients.list(tenantId, 1),
    },
    {
      collection: paths.findings().id,
      fields: ['tenantId'],
      serves: 'findings in the inbox',
      ask: () => findings.ofTenant(tenantId, 1),
    },
    {
      collection: paths.erasures().id,
      fields: ['state'],
      serves: 'open erasures',
      ask: () => erasures.open(1),
    },
    {
      collection: paths.erasures().id,
      fields: ['tenantHash', '-requestedAt'],
      serves: 'lists of erasures',
      ask: () => erasures.list(NOBODY, ONE),
    },
    {
      collection: paths.erasures().id,
      fields: ['scope', '-requestedAt'],
      serves: 'lists of the erasures of all tenants',
      ask: () => erasures.list(undefined, ONE),
    },
    // Each looks before it deletes, and nobody has anything to delete.
    {
      collection: paths.idempotencyRecords().id,
      fields: ['runId'],
      serves: 'the erasure of runs',
      ask: () => erasures.deleteRecordsOfRun(NOBODY, 1),
    },
    {
      collection: paths.idempotencyRecords().id,
      fields: ['tenantId'],
      serves: 'the erasure of tenants',
      ask: () => erasures.deleteRecords(tenantId, 1),
    },
    {
      collection: paths.allMailboxes().id,
      fields: ['tenantId'],
      serves: 'the erasure of tenants',
      ask: () => erasures.deleteWaits(tenantId, 1),
    },
  ];
}
