import { memoryHarness } from '../support/harness.memory.ts';
import { retentionStoreConformance } from './retention-store.suite.ts';

retentionStoreConformance('memory retention store', memoryHarness());
