import { memoryHarness } from '../support/harness.memory.ts';
import { findingsConformance } from './findings.suite.ts';

findingsConformance('findings in memory', memoryHarness());
