import { firestoreHarness } from '../support/harness.firestore.ts';
import { runtimeConfigConformance } from './runtime-config.suite.ts';

runtimeConfigConformance('Firestore runtime configuration', firestoreHarness());
