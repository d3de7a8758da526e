/**
 * The functions of the demo: those of the project, but every step of the shipped review takes a second and records its start and
 * end in a file, so that it can be killed while it runs and executions can be counted. The three parallel steps run while the
 * file named by CAIRN_DEMO_HOLD exists, so that a busy machine misses none of them.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { installWorkflows } from '../../functions/src/shipped.ts';
import { reviewPullRequestThat } from '../../functions/src/workflows/review-pull-request/workflow.ts';
import type { StepDefinition, Workflow } from '../../packages/cairn/src/engine/define/steps.ts';

/** Long enough to be killed while it runs, short enough to watch. */
const STEP_MS = 1_000;
/** Parallel steps of the review, during which the demo kills processes. */
const HELD: ReadonlySet<string> = new Set(['assess-risk', 'suggest-labels', 'find-reviewers']);
const HOLD_POLL_MS = 100;

export * from './unsampled-functions.ts';

installWorkflows([paced(reviewPullRequestThat(() => true))]);

function paced(workflow: Workflow): Workflow {
  const steps = [...workflow.steps].map(([id, step]): [string, StepDefinition] => [id, pacedStep(step)]);
  return { ...workflow, steps: new Map(steps) };
}

function pacedStep(step: StepDefinition): StepDefinition {
  if (!('body' in step)) return step;
  return {
    ...step,
    async body(context) {
      note('begin', step.id);
      await delay(STEP_MS);
      while (HELD.has(step.id) && isHeld()) await delay(HOLD_POLL_MS);
      const output = await step.body(context);
      note('end', step.id);
      return output;
    },
  };
}

function isHeld(): boolean {
  const file = process.env.CAIRN_DEMO_HOLD;
  return file !== undefined && existsSync(file);
}

function note(what: 'begin' | 'end', stepId: string): void {
  const file = process.env.CAIRN_DEMO_NOTES;
  if (!file) throw new Error('CAIRN_DEMO_NOTES must name the file for the notes of the demo');
  appendFileSync(file, `${what} ${stepId} ${process.pid}\n`);
}
