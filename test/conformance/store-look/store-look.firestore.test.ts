import { firestoreHarness } from '../support/harness.firestore.ts';
import { storeLookConformance } from './store-look.suite.ts';

storeLookConformance('Firestore look at itself', firestoreHarness());
