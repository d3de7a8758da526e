import { firestoreHarness } from '../support/harness.firestore.ts';
import { valueStoreConformance } from './value-store.suite.ts';

valueStoreConformance('Firestore run store', firestoreHarness());
