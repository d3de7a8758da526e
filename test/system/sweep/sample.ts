/**
 * Scenarios of the sweep that are also run by real processes. Each workflow type has one definition, because all of them are
 * deployed together.
 */

import { z } from 'zod';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Scenario } from '../../sweep/scenario.ts';
import { scenarios } from '../../sweep/scenarios/index.ts';
import type { NotingStage } from './noting-stage.ts';

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

/** Longer than a test waits. */
const LONG_MS = 300_000;

/**
 * Two steps that run until their process is terminated. The one that may be repeated is aborted then, and ends at once when it runs again, in another
 * process. The other one is aborted too if it `heeds` that, and otherwise ends in the time that a terminated process has.
 */
const leaving = (stage: NotingStage): Workflow =>
  defineWorkflow({
    type: 'leaving',
    planVersion: 1,
    input: z.object({ heeds: z.boolean() }),
    steps(step) {
      const again = step('again', { timeout: '6m' }, async ({ input: _, ...c }) => {
        await stage.acts(c, stage.beginnings(c) === 0 ? LONG_MS : 0);
        return 'again';
      });
      const once = step('once', { idempotent: false, timeout: '6m' }, async ({ input, ...c }) => {
        const terminated = new AbortController();
        process.once('SIGTERM', () => terminated.abort());
        if (input.heeds) await stage.acts(c, LONG_MS);
        else await stage.acts({ ...c, signal: terminated.signal }, LONG_MS).catch(() => undefined);
        return 'once';
      });
      return { again, once };
    },
  });

export function workflowsOf(stage: NotingStage): Workflow[] {
  const all = [...sample.flatMap(({ workflows }) => workflows(stage)), leaving(stage)];
  return [...new Map(all.map((workflow) => [workflow.type, workflow])).values()];
}
