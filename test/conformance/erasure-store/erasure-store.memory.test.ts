import { memoryHarness } from '../support/harness.memory.ts';
import { erasureStoreConformance } from './erasure-store.suite.ts';

erasureStoreConformance('memory erasure store', memoryHarness());
