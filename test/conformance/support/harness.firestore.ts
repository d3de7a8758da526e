/**
 * The Firestore adapters with the real client library and the local server. Each set of stores has its own project, so tests
 * share a server but no documents.
 */

import { fileURLToPath } from 'node:url';
import { Firestore } from '@google-cloud/firestore';
import { callsByFrames } from '../../../packages/cairn/src/platform/clients/calls-by-frames.ts';
import { lazyCommitChannel } from '../../../packages/cairn/src/platform/clients/commit-channel.ts';
import { Wire } from '../../../packages/cairn/src/platform/clients/wire.ts';
import { EncodedBatch } from '../../../packages/cairn/src/store/commits/encoded-batch.ts';
import { FirestoreFindingStore } from '../../../packages/cairn/src/store/diagnosis/firestore-finding-store.ts';
import { FirestoreHeartbeatStore } from '../../../packages/cairn/src/store/diagnosis/firestore-heartbeat-store.ts';
import { FirestoreStoreProbe } from '../../../packages/cairn/src/store/diagnosis/firestore-store-probe.ts';
import { FirestoreClientStore } from '../../../packages/cairn/src/store/firestore-client-store.ts';
import {
  FirestoreDayBudgetStore,
  FirestoreMailboxStore,
  FirestorePlanStore,
  FirestoreRuntimeConfigStore,
} from '../../../packages/cairn/src/store/firestore-documents.ts';
import { FirestoreEffectStore } from '../../../packages/cairn/src/store/firestore-effect-store.ts';
import { FirestoreIdempotencyStore } from '../../../packages/cairn/src/store/firestore-idempotency-store.ts';
import { FirestoreLogStore } from '../../../packages/cairn/src/store/firestore-log-store.ts';
import { FirestoreRunStatistics } from '../../../packages/cairn/src/store/firestore-run-statistics.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { FirestoreScheduleStore } from '../../../packages/cairn/src/store/firestore-schedule-store.ts';
import { FirestoreIntegrityStore } from '../../../packages/cairn/src/store/integrity/firestore-integrity-store.ts';
import { FirestoreRunSample } from '../../../packages/cairn/src/store/integrity/firestore-run-sample.ts';
import { FirestoreRunFinder } from '../../../packages/cairn/src/store/lists/firestore-run-finder.ts';
import { FirestoreErasureStore } from '../../../packages/cairn/src/store/retention/firestore-erasure-store.ts';
import { FirestoreRetentionStore } from '../../../packages/cairn/src/store/retention/firestore-retention-store.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import type { Harness } from './harness.ts';
import { T0 } from './run-fixture.ts';

/** The deployed indexes, so that a query without its index fails as in production. */
const indexesFile = fileURLToPath(new URL('../../../firestore.indexes.json', import.meta.url));

export interface FirestoreHarness extends Harness {
  /** The client of the newest stores, for checks of documents. */
  db(): Firestore;
  /** Operations that the service would bill. */
  meter(): FirestoreServer['meter'];
}

/** `raw`: starts and commits use the low-level client, as in production. `frames`: they and other commits and reads use frames, as in workers of the local cloud. */
export function firestoreHarness({ raw = false, frames = false } = {}): FirestoreHarness {
  let server: FirestoreServer | undefined;
  let time = T0;
  const clients: Firestore[] = [];
  return {
    async make() {
      server ??= await startFirestoreServer({ storage: { kind: 'memory' }, clock: () => time, indexesFile });
      // Without this setting the client requires credentials and searches for them on the network.
      process.env.METADATA_SERVER_DETECTION = 'none';
      process.env.FIRESTORE_EMULATOR_HOST = server.host;
      const project = `conformance-${clients.length}`;
      const db = new Firestore({ projectId: project });
      // Long, because a slow answer on a busy machine does not mean that the store is down.
      const patienceMs = 120_000;
      const wire = frames ? new Wire(server.host) : undefined;
      if (wire) callsByFrames(db, wire, { readMs: patienceMs, commitMs: patienceMs });
      const channel = lazyCommitChannel({
        project,
        emulator: server.host,
        wire,
        deadlineMs: () => patienceMs,
      });
      const newBatch = raw || frames ? () => new EncodedBatch(channel) : undefined;
      clients.push(db);
      return {
        runs: new FirestoreRunStore(db, undefined, newBatch),
        logs: new FirestoreLogStore(db),
        idempotency: new FirestoreIdempotencyStore(db),
        clients: new FirestoreClientStore(db),
        mailboxes: new FirestoreMailboxStore(db),
        effects: new FirestoreEffectStore(db),
        integrity: new FirestoreIntegrityStore(db),
        sample: new FirestoreRunSample(db),
        config: new FirestoreRuntimeConfigStore(db),
        statistics: new FirestoreRunStatistics(db),
        finder: new FirestoreRunFinder(db),
        retention: new FirestoreRetentionStore(db),
        erasures: new FirestoreErasureStore(db),
        schedules: new FirestoreScheduleStore(db),
        plans: new FirestorePlanStore(db),
        dayBudgets: new FirestoreDayBudgetStore(db),
        heartbeats: new FirestoreHeartbeatStore(db),
        findings: new FirestoreFindingStore(db),
        look: new FirestoreStoreProbe({ db, randomId: () => '8' }),
        passTime: (ms) => {
          time += ms;
        },
        now: () => time,
      };
    },
    db() {
      const db = clients.at(-1);
      if (!db) throw new Error('no stores were made yet');
      return db;
    },
    meter() {
      if (!server) throw new Error('no stores were made yet');
      return server.meter;
    },
    async close() {
      await Promise.all(clients.map((client) => client.terminate()));
      await server?.stop();
    },
  };
}
