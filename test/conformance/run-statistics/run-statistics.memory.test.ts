import { memoryHarness } from '../support/harness.memory.ts';
import { runStatisticsConformance } from './run-statistics.suite.ts';

runStatisticsConformance('memory run statistics', memoryHarness());
