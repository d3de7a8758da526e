import { memoryHarness } from '../support/harness.memory.ts';
import { runtimeConfigConformance } from './runtime-config.suite.ts';

runtimeConfigConformance('memory runtime configuration', memoryHarness());
