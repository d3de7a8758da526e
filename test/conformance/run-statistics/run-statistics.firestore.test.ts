import { firestoreHarness } from '../support/harness.firestore.ts';
import { runStatisticsConformance } from './run-statistics.suite.ts';

runStatisticsConformance('Firestore run statistics', firestoreHarness());
