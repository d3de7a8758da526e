/**
 * Scenarios of the sweep that are also run by real processes. Each workflow type has one definition, because all of them are
 * deployed together.
 */

import { z } from 'zod';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario, Stage } from '../../sweep/scenario.ts';
import { scenarios } from '../../sweep/scenarios/index.ts';

const NAMES: ReadonlySet<string> = new Set([
  'chain',
  'parallel-join',
  'retries',
  'not-idempotent',
  'sleep',
  'map',
  'compensate-failure',
  'feedback',
  'event',
  'child',
]);

/** `SWEEP_FLOWS=all`: also each scenario of a flow or loop that needs only requests to the API. */
const WITH_FLOWS = process.env.SWEEP_FLOWS === 'all';

export const sample: readonly Scenario[] = scenarios.filter(
  (scenario) => NAMES.has(scenario.name) || (WITH_FLOWS && isPlayable(scenario)),
);

/** True if the scenario needs no effects, no settings of its own, and no operation at a fixed time. */
function isPlayable({ name, effects, settings, budgets, operations = [] }: Scenario): boolean {
  if (!/^(flow|loop)(-|$)/.test(name) || effects || settings || budgets) return false;
  return operations.every(({ request, atMs }) => request !== undefined && atMs === undefined);
}

/** Environment variable with the file in which a worker's bodies record their actions. */
export const NOTES = 'SWEEP_NOTES';

/** Steps that can, or cannot, finish in the time that a terminated process has. */
const leaving = (stage: Stage): Workflow =>
  defineWorkflow({
    type: 'leaving',
    planVersion: 1,
    input: z.object({ ms: z.number(), heeds: z.boolean() }),
    steps(step) {
      const again = step('again', { timeout: '2m' }, async ({ input, ...c }) => {
        await stage.acts(c, input.ms);
        return 'again';
      });
      const once = step('once', { idempotent: false, timeout: '2m' }, async ({ input, ...c }) => {
        const signal = input.heeds ? c.signal : new AbortController().signal;
        await stage.acts({ ...c, signal }, input.ms);
        return 'once';
      });
      return { again, once };
    },
  });

export function workflowsOf(stage: Stage): Workflow[] {
  const all = [...sample.flatMap(({ workflows }) => workflows(stage)), leaving(stage)];
  return [...new Map(all.map((workflow) => [workflow.type, workflow])).values()];
}
