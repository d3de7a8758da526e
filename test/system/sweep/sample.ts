/**
 * The scenarios of the sweep that real processes perform too, and the tenants they act as. Each type of workflow stands
 * for one definition only, since all of them are deployed together.
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

/** `SWEEP_FLOWS=all`: also every scenario of a flow or loop that a client of the API can play. */
const WITH_FLOWS = process.env.SWEEP_FLOWS === 'all';

export const sample: readonly Scenario[] = scenarios.filter(
  (scenario) => NAMES.has(scenario.name) || (WITH_FLOWS && isPlayable(scenario)),
);

/** Nothing that it acts on outside, no time at which something is asked, no setting of an engine of its own. */
function isPlayable({ name, effects, settings, budgets, operations = [] }: Scenario): boolean {
  if (!/^(flow|loop)(-|$)/.test(name) || effects || settings || budgets) return false;
  return operations.every(({ request, atMs }) => request !== undefined && atMs === undefined);
}

/** Environment variable with the file in which a worker's bodies record their actions. */
export const NOTES = 'SWEEP_NOTES';

/** Work that a process asked to end can and cannot finish in its time. */
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
