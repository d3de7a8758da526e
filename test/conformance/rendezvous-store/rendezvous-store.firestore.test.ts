import { firestoreHarness } from '../support/harness.firestore.ts';
import { rendezvousStoreConformance } from './rendezvous-store.suite.ts';

rendezvousStoreConformance('Firestore rendezvous store', firestoreHarness());
