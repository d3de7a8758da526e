import { firestoreHarness } from '../support/harness.firestore.ts';
import { idempotencyStoreConformance } from './idempotency-store.suite.ts';

idempotencyStoreConformance('Firestore idempotency store', firestoreHarness());
