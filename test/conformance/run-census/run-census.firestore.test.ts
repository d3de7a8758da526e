import { firestoreHarness } from '../support/harness.firestore.ts';
import { runCensusConformance } from './run-census.suite.ts';

runCensusConformance('Firestore run census', firestoreHarness());
