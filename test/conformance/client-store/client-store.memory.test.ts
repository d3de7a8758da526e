import { memoryHarness } from '../support/harness.memory.ts';
import { clientStoreConformance } from './client-store.suite.ts';

clientStoreConformance('memory client store', memoryHarness());
