import { firestoreHarness } from '../support/harness.firestore.ts';
import { runFinderConformance } from './run-finder.suite.ts';

runFinderConformance('Firestore run finder', firestoreHarness());
