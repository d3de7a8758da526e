import { firestoreHarness } from '../support/harness.firestore.ts';
import { retentionStoreConformance } from './retention-store.suite.ts';

retentionStoreConformance('Firestore retention store', firestoreHarness());
