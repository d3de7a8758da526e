import { firestoreHarness } from '../support/harness.firestore.ts';
import { mailboxStoreConformance } from './mailbox-store.suite.ts';

mailboxStoreConformance('Firestore mailbox store', firestoreHarness());
