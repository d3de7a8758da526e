import { memoryHarness } from '../support/harness.memory.ts';
import { valueStoreConformance } from './value-store.suite.ts';

valueStoreConformance('memory run store', memoryHarness());
