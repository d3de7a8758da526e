import { memoryHarness } from '../support/harness.memory.ts';
import { integrityStoreConformance } from './integrity-store.suite.ts';

integrityStoreConformance('Memory integrity store', memoryHarness());
