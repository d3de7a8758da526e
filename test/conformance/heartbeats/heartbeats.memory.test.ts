import { memoryHarness } from '../support/harness.memory.ts';
import { heartbeatsConformance } from './heartbeats.suite.ts';

heartbeatsConformance('memory signs of life', memoryHarness());
