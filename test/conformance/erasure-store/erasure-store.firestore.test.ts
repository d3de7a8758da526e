import { firestoreHarness } from '../support/harness.firestore.ts';
import { erasureStoreConformance } from './erasure-store.suite.ts';

erasureStoreConformance('Firestore erasure store', firestoreHarness());
