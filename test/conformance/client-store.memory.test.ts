import { clientStoreConformance } from './client-store.suite.ts';
import { memoryHarness } from './harness.memory.ts';

clientStoreConformance('memory client store', memoryHarness());
