import { memoryHarness } from '../support/harness.memory.ts';
import { rendezvousStoreConformance } from './rendezvous-store.suite.ts';

rendezvousStoreConformance('memory rendezvous store', memoryHarness());
