import { memoryHarness } from '../support/harness.memory.ts';
import { planStoreConformance } from './plan-store.suite.ts';

planStoreConformance('memory plans', memoryHarness());
