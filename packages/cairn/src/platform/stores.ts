/** The Firestore adapters of an instance, all over one client, by the names that the entry points and the engine use. */
import type { Firestore } from '@google-cloud/firestore';
import { EncodedBatch } from '../store/commits/encoded-batch.ts';
import type { CommitChannel } from '../store/commits/store-batch.ts';
import { FirestoreFindingStore } from '../store/diagnosis/firestore-finding-store.ts';
import { FirestoreClientStore } from '../store/firestore-client-store.ts';
import {
  FirestoreDayBudgetStore,
  FirestoreMailboxStore,
  FirestorePlanStore,
  FirestoreRuntimeConfigStore,
} from '../store/firestore-documents.ts';
import { FirestoreEffectStore } from '../store/firestore-effect-store.ts';
import { FirestoreIdempotencyStore } from '../store/firestore-idempotency-store.ts';
import { FirestoreLogStore } from '../store/firestore-log-store.ts';
import { FirestoreRunStatistics } from '../store/firestore-run-statistics.ts';
import { FirestoreRunStore } from '../store/firestore-run-store.ts';
import { FirestoreScheduleStore } from '../store/firestore-schedule-store.ts';
import { FirestoreIntegrityStore } from '../store/integrity/firestore-integrity-store.ts';
import { FirestoreRunSample } from '../store/integrity/firestore-run-sample.ts';
import { FirestoreRunFinder } from '../store/lists/firestore-run-finder.ts';
import { Shards } from '../store/lists/shards.ts';
import { Paths } from '../store/paths.ts';
import { FirestoreErasureStore } from '../store/retention/firestore-erasure-store.ts';
import { FirestoreRetentionStore } from '../store/retention/firestore-retention-store.ts';
import { FirestoreRunListWatch } from '../store/watch/firestore-run-list-watch.ts';
import { FirestoreRunWatch } from '../store/watch/firestore-run-watch.ts';
import { systemClock } from './clock.ts';
import type { Settings } from './settings/settings.ts';

/** @param commits writes runs, without the high-level client */
export function storesOn(
  db: Firestore,
  { collectionPrefix: prefix, shards: written }: Pick<Settings, 'collectionPrefix' | 'shards'>,
  commits: CommitChannel,
) {
  const shards = new Shards(new Paths(db, prefix), written);
  return {
    runs: new FirestoreRunStore(db, prefix, () => new EncodedBatch(commits), { shards }),
    records: new FirestoreIdempotencyStore(db, prefix, written),
    config: new FirestoreRuntimeConfigStore(db, prefix),
    mailboxes: new FirestoreMailboxStore(db, prefix),
    effects: new FirestoreEffectStore(db, prefix),
    logs: new FirestoreLogStore(db, prefix),
    findings: new FirestoreFindingStore(db, prefix),
    clients: new FirestoreClientStore(db, prefix),
    statistics: new FirestoreRunStatistics(db, prefix, shards),
    finder: new FirestoreRunFinder(db, prefix, shards),
    watch: new FirestoreRunWatch(db, prefix),
    listWatch: new FirestoreRunListWatch(db, systemClock, prefix),
    integrity: new FirestoreIntegrityStore(db, prefix),
    sample: new FirestoreRunSample(db, prefix, shards),
    erasures: new FirestoreErasureStore(db, prefix),
    retention: new FirestoreRetentionStore(db, prefix, shards),
    plans: new FirestorePlanStore(db, prefix),
    dayBudgets: new FirestoreDayBudgetStore(db, prefix),
    schedules: new FirestoreScheduleStore(db, prefix),
  };
}
