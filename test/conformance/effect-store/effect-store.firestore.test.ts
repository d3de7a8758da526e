import { firestoreHarness } from '../support/harness.firestore.ts';
import { effectStoreConformance } from './effect-store.suite.ts';

effectStoreConformance('Firestore effect store', firestoreHarness());
effectStoreConformance(
  'Firestore effect store, written by the low-level client',
  firestoreHarness({ raw: true }),
);
