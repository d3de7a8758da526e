import { memoryHarness } from '../support/harness.memory.ts';
import { storeLookConformance } from './store-look.suite.ts';

storeLookConformance('memory look at the store', memoryHarness());
