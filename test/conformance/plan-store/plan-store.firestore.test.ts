import { firestoreHarness } from '../support/harness.firestore.ts';
import { planStoreConformance } from './plan-store.suite.ts';

planStoreConformance('Firestore plans', firestoreHarness());
