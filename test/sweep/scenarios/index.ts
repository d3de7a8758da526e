/** All scenarios of the sweep. */
import type { Scenario } from '../scenario.ts';
import { approvalScenarios } from './approvals.ts';
import { bodyScenarios } from './bodies.ts';
import { budgetScenarios } from './budgets.ts';
import { childScenarios } from './children.ts';
import { effectScenarios } from './effects.ts';
import { endingScenarios } from './endings.ts';
import { eventScenarios } from './events.ts';
import { flowEndingScenarios } from './flow-endings.ts';
import { flowWaitScenarios } from './flow-waits.ts';
import { flowScenarios } from './flows.ts';
import { mapScenarios } from './maps.ts';
import { operatorScenarios } from './operators.ts';
import { plainScenarios } from './plain.ts';
import { publishedOf } from './published.ts';
import { sleepScenarios } from './sleeps.ts';
import { successorScenarios } from './successors.ts';

const quiet: readonly Scenario[] = [
  ...plainScenarios,
  ...sleepScenarios,
  ...mapScenarios,
  ...bodyScenarios,
  ...endingScenarios,
  ...approvalScenarios,
  ...eventScenarios,
  ...childScenarios,
  ...operatorScenarios,
  ...effectScenarios,
  ...successorScenarios,
  ...flowScenarios,
  ...flowWaitScenarios,
  ...flowEndingScenarios,
  ...budgetScenarios,
];

export const scenarios: readonly Scenario[] = [...quiet, ...publishedOf(quiet)];
