import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Firestore } from '@google-cloud/firestore';
import { callsByFrames } from '../../../packages/cairn/src/platform/clients/calls-by-frames.ts';
import { Wire } from '../../../packages/cairn/src/platform/clients/wire.ts';
import { systemClock } from '../../../packages/cairn/src/platform/clock.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { FirestoreRetentionStore } from '../../../packages/cairn/src/store/retention/firestore-retention-store.ts';
import { FirestoreRunListWatch } from '../../../packages/cairn/src/store/watch/firestore-run-list-watch.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { connect } from '../../local/firestore/support/client.ts';
import { runListWatchConformance } from './run-list-watch.suite.ts';

const LOOK_MS = 5;
/** The deployed indexes, because a listener needs the index of its query. */
const indexesFile = fileURLToPath(new URL('../../../firestore.indexes.json', import.meta.url));

conform('Firestore run list watch', (db) => db);
conform('Firestore run list watch over the wire of the local cloud', (db, host) =>
  callsByFrames(db, new Wire(host)),
);

function conform(name: string, over: (db: Firestore, host: string) => Firestore): void {
  let server: FirestoreServer | undefined;
  const clients: Firestore[] = [];
  runListWatchConformance(name, {
    async make() {
      server ??= await startFirestoreServer({ storage: { kind: 'memory' }, indexesFile });
      server.faults.clear();
      const db = over(connect(server.host, `lists-${clients.length}`), server.host);
      clients.push(db);
      return {
        runs: new FirestoreRunStore(db),
        retention: new FirestoreRetentionStore(db),
        watch: new FirestoreRunListWatch(db, systemClock),
        cut: () => cutNextStreams(server),
      };
    },
    async close() {
      // A stopped watch ends its stream asynchronously. Waiting for it proves that it ends.
      while ((server?.listening() ?? 0) > 0) await setTimeout(LOOK_MS);
      await Promise.all(clients.map((client) => client.terminate()));
      await server?.stop();
    },
  });
}

function cutNextStreams(firestore: FirestoreServer | undefined): void {
  const fault = { kind: 'cut-stream', afterMessages: 4 } as const;
  firestore?.faults.set([{ call: 'Listen', probability: 1, times: 2, fault }], 1);
}
