import { setTimeout } from 'node:timers/promises';
import type { Firestore } from '@google-cloud/firestore';
import { callsByFrames } from '../../../packages/cairn/src/platform/clients/calls-by-frames.ts';
import { Wire } from '../../../packages/cairn/src/platform/clients/wire.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { FirestoreRunWatch } from '../../../packages/cairn/src/store/watch/firestore-run-watch.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { connect } from '../../local/firestore/support/client.ts';
import { runWatchConformance } from './run-watch.suite.ts';

/** Small, so that the watch moves from window to window. */
const WINDOW = 3;
const LOOK_MS = 5;

conform('Firestore run watch', (db) => db);
conform('Firestore run watch over the wire of the local cloud', (db, host) =>
  callsByFrames(db, new Wire(host)),
);

function conform(name: string, over: (db: Firestore, host: string) => Firestore): void {
  let server: FirestoreServer | undefined;
  const clients: Firestore[] = [];
  runWatchConformance(name, {
    async make() {
      server ??= await startFirestoreServer({ storage: { kind: 'memory' } });
      const db = over(connect(server.host, `watch-${clients.length}`), server.host);
      clients.push(db);
      return {
        runs: new FirestoreRunStore(db),
        watch: new FirestoreRunWatch(db, undefined, WINDOW),
        cut: () => cutNextStream(server),
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

function cutNextStream(firestore: FirestoreServer | undefined): void {
  const fault = { kind: 'cut-stream', afterMessages: 4 } as const;
  firestore?.faults.set([{ call: 'Listen', probability: 1, times: 2, fault }], 1);
}
