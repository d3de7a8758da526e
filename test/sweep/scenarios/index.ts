/** All scenarios of the sweep. */
import type { Scenario } from '../scenario.ts';
import { approvalScenarios } from './approvals.ts';
import { bodyScenarios } from './bodies.ts';
import { childScenarios } from './children.ts';
import { endingScenarios } from './endings.ts';
import { eventScenarios } from './events.ts';
import { mapScenarios } from './maps.ts';
import { operatorScenarios } from './operators.ts';
import { plainScenarios } from './plain.ts';
import { sleepScenarios } from './sleeps.ts';

export const scenarios: readonly Scenario[] = [
  ...plainScenarios,
  ...sleepScenarios,
  ...mapScenarios,
  ...bodyScenarios,
  ...endingScenarios,
  ...approvalScenarios,
  ...eventScenarios,
  ...childScenarios,
  ...operatorScenarios,
];
