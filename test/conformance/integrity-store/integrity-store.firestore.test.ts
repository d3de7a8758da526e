import { firestoreHarness } from '../support/harness.firestore.ts';
import { integrityStoreConformance } from './integrity-store.suite.ts';

integrityStoreConformance('Firestore integrity store', firestoreHarness());
