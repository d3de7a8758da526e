import { memoryHarness } from '../support/harness.memory.ts';
import { runFinderConformance } from './run-finder.suite.ts';

runFinderConformance('memory run finder', memoryHarness());
