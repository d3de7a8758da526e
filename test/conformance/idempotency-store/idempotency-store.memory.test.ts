import { memoryHarness } from '../support/harness.memory.ts';
import { idempotencyStoreConformance } from './idempotency-store.suite.ts';

idempotencyStoreConformance('memory idempotency store', memoryHarness());
