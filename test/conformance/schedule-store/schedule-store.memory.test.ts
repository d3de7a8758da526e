import { memoryHarness } from '../support/harness.memory.ts';
import { scheduleStoreConformance } from './schedule-store.suite.ts';

scheduleStoreConformance('memory schedule store', memoryHarness());
