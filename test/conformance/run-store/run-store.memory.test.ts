import { memoryHarness } from '../support/harness.memory.ts';
import { runStoreConformance } from './run-store.suite.ts';

runStoreConformance('memory run store', memoryHarness());
