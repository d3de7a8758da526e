import { firestoreHarness } from '../support/harness.firestore.ts';
import { findingsConformance } from './findings.suite.ts';

findingsConformance('findings in Firestore', firestoreHarness());
