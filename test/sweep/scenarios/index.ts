/** All scenarios of the sweep. */
import type { Scenario } from '../scenario.ts';
import { plainScenarios } from './plain.ts';

export const scenarios: readonly Scenario[] = [...plainScenarios];
