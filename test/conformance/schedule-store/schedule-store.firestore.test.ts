import { firestoreHarness } from '../support/harness.firestore.ts';
import { scheduleStoreConformance } from './schedule-store.suite.ts';

scheduleStoreConformance('Firestore schedule store', firestoreHarness());
