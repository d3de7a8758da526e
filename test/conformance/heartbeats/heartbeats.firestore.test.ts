import { firestoreHarness } from '../support/harness.firestore.ts';
import { heartbeatsConformance } from './heartbeats.suite.ts';

heartbeatsConformance('Firestore signs of life', firestoreHarness());
