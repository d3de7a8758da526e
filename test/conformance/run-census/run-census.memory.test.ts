import { memoryHarness } from '../support/harness.memory.ts';
import { runCensusConformance } from './run-census.suite.ts';

runCensusConformance('memory run census', memoryHarness());
