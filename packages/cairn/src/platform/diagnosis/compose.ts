/** Composes the parts of a diagnosis, and the heartbeats of the scheduled functions. */
import type { Firestore } from '@google-cloud/firestore';
import type { DiagnosisParts } from '../../api/deps.ts';
import type { HeartbeatDeps } from '../../operations/diagnosis/with-heartbeat.ts';
import type { OperationReader } from '../../ports/diagnosis/operations.ts';
import type { Log } from '../../ports/log.ts';
import { FirestoreFindingStore } from '../../store/diagnosis/firestore-finding-store.ts';
import { FirestoreHeartbeatStore } from '../../store/diagnosis/firestore-heartbeat-store.ts';
import { FirestoreStoreProbe } from '../../store/diagnosis/firestore-store-probe.ts';
import { Shards } from '../../store/lists/shards.ts';
import { Paths } from '../../store/paths.ts';
import { lazyQueueProbe } from '../clients/tasks.ts';
import { systemClock } from '../clock.ts';
import { systemRandomness } from '../randomness.ts';
import type { Settings } from '../settings/settings.ts';
import type { BoundSecrets } from './bound-secrets.ts';
import { setupProbe } from './setup.ts';

interface DiagnosisOptions {
  readonly settings: Settings;
  readonly secrets: BoundSecrets;
  readonly db: Firestore;
  readonly operations: OperationReader;
  readonly log: Log;
}

export function diagnosisOf({ settings, secrets, db, operations, log }: DiagnosisOptions): {
  readonly diagnosis: DiagnosisParts;
  readonly heartbeat: HeartbeatDeps;
} {
  const prefix = settings.collectionPrefix;
  const heartbeats = new FirestoreHeartbeatStore(db, prefix);
  return {
    diagnosis: {
      storeProbe: new FirestoreStoreProbe({
        db,
        prefix,
        randomId: systemRandomness.token,
        shards: new Shards(new Paths(db, prefix), settings.shards),
      }),
      queueProbe: lazyQueueProbe(settings),
      heartbeats,
      findings: new FirestoreFindingStore(db, prefix),
      setup: setupProbe(settings, secrets, process.env),
      operations,
    },
    heartbeat: {
      heartbeats,
      clock: systemClock,
      log,
      installation: `${settings.region}/${settings.drive.shared.name}`,
    },
  };
}
