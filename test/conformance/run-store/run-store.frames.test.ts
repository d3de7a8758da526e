import { firestoreHarness } from '../support/harness.firestore.ts';
import { runStoreConformance } from './run-store.suite.ts';

runStoreConformance(
  'Firestore run store over the wire of the local cloud',
  firestoreHarness({ frames: true }),
);
