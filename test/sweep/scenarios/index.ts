/** All scenarios of the sweep. */
import type { Scenario } from '../scenario.ts';
import { plainScenarios } from './plain.ts';
import { sleepScenarios } from './sleeps.ts';

export const scenarios: readonly Scenario[] = [...plainScenarios, ...sleepScenarios];
