import { memoryHarness } from '../support/harness.memory.ts';
import { effectStoreConformance } from './effect-store.suite.ts';

effectStoreConformance('memory effect store', memoryHarness());
