import { clientStoreConformance } from './client-store.suite.ts';
import { firestoreHarness } from './harness.firestore.ts';

clientStoreConformance('Firestore client store', firestoreHarness());
