import { firestoreHarness } from '../support/harness.firestore.ts';
import { clientStoreConformance } from './client-store.suite.ts';

clientStoreConformance('Firestore client store', firestoreHarness());
