/** Runs of small workflows that ask a person at their step `gate`, and the answers of that person. */
import { expect } from '@jest/globals';
import { z } from 'zod';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { ApprovalOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type { DecideRequest } from '../../../packages/cairn/src/operations/approvals/request.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';

export type Gate = Pick<ApprovalOptions<unknown, Record<never, never>>, 'onExpiry' | 'onFailure'>;

export interface Scene {
  readonly world: World;
  readonly runId: string;
  /** Step and revision of each body that began, and its feedback. */
  readonly log: string[];
  decide(decision: DecideRequest['decision'], more?: Partial<DecideRequest>): Promise<unknown>;
  state(): ReturnType<typeof assertStored>;
  result(): unknown;
}

/** A run of that workflow, not yet driven. */
export async function sceneOf(make: (log: string[]) => Workflow): Promise<Scene> {
  const log: string[] = [];
  const workflow = make(log);
  const world = new World({ workflows: [workflow] });
  const runId = await world.start(workflow.type);
  const state = () => assertStored(world.db, runId, Number.POSITIVE_INFINITY);
  return {
    world,
    runId,
    log,
    decide: (decision, more = {}) =>
      decideApproval(world.deps, {
        runId,
        tenantId: 't1',
        stepId: 'gate',
        actor: 'c.ada',
        decision,
        ...more,
      }),
    state,
    result: () => {
      const { result } = state();
      return result && 'text' in result ? JSON.parse(result.text) : undefined;
    },
  };
}

/** Drives the run until only a person can continue it. */
export async function untilAsked({ world, state }: Scene): Promise<void> {
  await world.run(() => state().status === 'awaiting_approval');
  expect(state().status).toBe('awaiting_approval');
}

/** draft → gate → publish. The step `facts` beside them is never sent back. */
export const reviewed =
  (gate: Gate = {}) =>
  (log: string[]) =>
    defineWorkflow({
      type: 'reviewed',
      planVersion: 1,
      input: z.unknown(),
      steps(step) {
        const facts = step('facts', () => {
          log.push('facts');
          return 'facts';
        });
        const draft = step('draft', { needs: { facts } }, ({ revision, feedback, attempt }) => {
          log.push(`draft ${revision} ${attempt} ${feedback ?? '-'}`);
          return `draft ${revision}`;
        });
        const approved = step.approval('gate', {
          needs: { draft },
          timeout: '1h',
          ask: ({ draft }) => ({ question: `Publish ${draft}?` }),
          ...gate,
        });
        const published = step(
          'publish',
          { needs: { draft, approved }, ifSkipped: 'run' },
          ({ draft, approved }) => {
            log.push(`publish ${draft}`);
            return [draft, approved ?? null];
          },
        );
        return { published };
      },
    });
