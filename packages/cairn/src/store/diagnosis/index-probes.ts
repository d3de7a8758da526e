/**
 * The queries of the stores that need an index, each with that index and a call that makes the store send it and read next to
 * nothing. The calls use the stores' own methods, so that a probe cannot differ from the real query. A test compares the table
 * with `firestore.indexes.json`.
 */
import type { CollectionReference, Firestore } from '@google-cloud/firestore';
import type { IndexNeed } from '../../ports/diagnosis/store-probe.ts';
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

/** A name that matches nothing, as do the times: every query is empty, which is billed as one read. */
const NOBODY = '~nobody';
const NEVER = 0;
const AGES_AHEAD = Date.UTC(9000, 0);
const ONE = { limit: 1 };

/** Makes the probes of the queries over a collection. */
const probesOf =
  ({ id: collection }: CollectionReference) =>
  (fields: IndexNeed['fields'], serves: string, ask: () => Promise<unknown>): IndexProbe => ({
    collection,
    fields,
    serves,
    ask,
  });

export function indexProbes(db: Firestore, prefix?: string): readonly IndexProbe[] {
  const paths = new Paths(db, prefix);
  // With only one shard, each probe sends exactly its own query.
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
  const tenantId = NOBODY;
  const bucket = { status: 'completed', type: NOBODY } as const;
  const ofRuns = probesOf(paths.runs());
  const ofRecords = probesOf(paths.idempotencyRecords());
  const ofSchedules = probesOf(paths.schedules());
  const ofEffects = probesOf(paths.effects());
  const ofClients = probesOf(paths.clients());
  const ofFindings = probesOf(paths.findings());
  const ofErasures = probesOf(paths.erasures());
  const ofMailboxes = probesOf(paths.allMailboxes());
  const listBy = (field: 'repoId' | 'type' | 'threadId', one: string) =>
    ofRuns(['tenantId', field, '-createdAt'], `lists of the runs of a ${one}`, () =>
      lists.listRuns({ tenantId, [field]: NOBODY }, ONE),
    );
  return [
    ofRuns(['tenantId', '-createdAt'], 'lists of runs', () => lists.listRuns({ tenantId }, ONE)),
    ofRuns(['tenantId', 'status', '-createdAt'], 'lists and counts of runs by status', () =>
      lists.listRuns({ tenantId, status: 'pending' }, ONE),
    ),
    ofRuns(['tenantId', 'waitsFor', '-createdAt'], 'lists and counts of waiting runs', () =>
      lists.listRuns({ tenantId, waitsFor: 'awaiting_approval' }, ONE),
    ),
    ofRuns(['tenantId', 'stopKind', '-createdAt'], 'lists of halted runs', () =>
      lists.listRuns({ tenantId, stopKind: ['halt'] }, ONE),
    ),
    listBy('repoId', 'repository'),
    listBy('type', 'workflow'),
    listBy('threadId', 'thread'),
    ofRuns(['tenantId', '-durationMs'], 'lists of the longest runs', () =>
      finder.ordered('longest', { tenantId }, ONE),
    ),
    ofRuns(['tenantId', 'type', '-durationMs'], 'lists of the longest runs of a workflow', () =>
      finder.ordered('longest', { tenantId, type: NOBODY }, ONE),
    ),
    ofRuns(['tenantId', 'shard', '-updatedAt'], 'lists of the runs that changed last', () =>
      finder.ordered('updated', { tenantId }, ONE),
    ),
    ofRuns(['tenantId', 'askingSince'], 'the inbox', () => finder.asking(tenantId, ONE)),
    ofRuns(['foundBy', 'tenantId', '-createdAt'], 'the search for runs', () =>
      finder.named(tenantId, NOBODY, 1),
    ),
    ofRuns(['shard', 'wakeAt'], 'the scan for overdue runs', () => lists.dueByIndex(NEVER, 1)),
    ofRuns(['shard', 'status', 'lastHeartbeatAt'], 'the scan for runs that missed a heartbeat', () =>
      lists.silentRuns({ after: AGES_AHEAD, until: AGES_AHEAD + 1 }, 1),
    ),
    ofRuns(['type', 'shard', 'wakeAt'], 'unpausing a workflow', () =>
      statistics.due({ until: NEVER, type: NOBODY, limit: 1 }),
    ),
    ofRuns(['tenantId', 'status', 'type', 'planVersion'], 'counts of runs by workflow version', () =>
      statistics.liveVersions(tenantId, 1),
    ),
    ofRuns(['status', 'type', 'shard', 'completedAt'], 'deletion of runs past their retention period', () =>
      retention.ended({ bucket, until: NEVER, after: undefined, limit: 1 }),
    ),
    ofRuns(['rootRunId'], 'deletion of runs past their retention period', () => retention.lineage(NOBODY, 1)),
    ofRecords(
      ['shard', 'status', 'expiresAt'],
      'the hourly check of a sample of runs, and the probe for expired records',
      () => sample.startedSince(AGES_AHEAD, 1),
    ),
    ofSchedules(['state', 'nextAt'], 'schedules, which do not fire without it', () =>
      schedules.dueByIndex(NEVER, 1),
    ),
    ofSchedules(['tenantId', '-createdAt'], 'lists of schedules', () => schedules.list(tenantId, ONE)),
    ofEffects(['runId', 'createdAt'], 'lists of effects, checks, and deletion', () =>
      effects.listOfRun(NOBODY, ONE),
    ),
    ofEffects(['tenantId', 'askingSince'], 'effects without a run in the inbox', () =>
      effects.asking(NOBODY, 0, 1),
    ),
    ofClients(['tenantId'], 'the list of API clients', () => clients.list(tenantId, 1)),
    ofFindings(['tenantId'], 'findings in the inbox', () => findings.ofTenant(tenantId, 1)),
    ofErasures(['state'], 'open erasures', () => erasures.open(NOBODY, 1)),
    ofErasures(['tenantHash', '-requestedAt'], 'lists of erasures', () => erasures.list(NOBODY, ONE)),
    ofErasures(['scope', '-requestedAt'], 'lists of the erasures of all tenants', () =>
      erasures.list(undefined, ONE),
    ),
    // Each of these queries before it deletes, and finds nothing of this tenant.
    ofRecords(['runId'], 'the erasure of runs', () => erasures.deleteRecordsOfRun(NOBODY, 1)),
    ofRecords(['tenantId'], 'the erasure of tenants', () =>
      erasures.deleteRecords({ tenantId, until: NEVER, after: undefined }, 1),
    ),
    ofMailboxes(['tenantId'], 'the erasure of tenants', () => erasures.mailboxesOf(tenantId, undefined, 1)),
  ];
}
