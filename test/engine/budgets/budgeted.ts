/** A run with a budget, in memory, and a person who answers its questions. */
import { z } from 'zod';
import type { Budget } from '../../../packages/cairn/src/engine/define/spending.ts';
import type { WorkflowOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type { DecideRequest } from '../../../packages/cairn/src/operations/approvals/request.ts';
import { assertStored } from '../../support/soundness.ts';
import { World, type WorldOptions } from '../../support/world.ts';

export function budgeted(budget: Budget, steps: WorkflowOptions<object>['steps']) {
  return defineWorkflow({ type: 'w', planVersion: 1, input: z.object({}), budget, steps });
}

const STILL = new Set(['awaiting_approval', 'completed', 'failed', 'cancelled']);

export class Spender {
  readonly world: World;
  readonly runId: string;

  private constructor(world: World, runId: string) {
    this.world = world;
    this.runId = runId;
  }

  static async start(
    budget: Budget,
    steps: WorkflowOptions<object>['steps'],
    more: Omit<WorldOptions, 'workflows'> = {},
  ): Promise<Spender> {
    const world = new World({ workflows: [budgeted(budget, steps)], ...more });
    return new Spender(world, await world.start('w'));
  }

  state() {
    return assertStored(this.world.db, this.runId, Number.POSITIVE_INFINITY);
  }

  /** Drives the run until it asks a person or ends. */
  async run(deps = this.world.deps): Promise<void> {
    await this.world.run(() => STILL.has(this.world.stateOf(this.runId).status), deps);
  }

  decide(decision: DecideRequest['decision'], more: Partial<DecideRequest> = {}) {
    const [wait] = this.state().waits;
    const { stepId = '', itemKey } = wait?.execution ?? {};
    return decideApproval(this.world.deps, {
      runId: this.runId,
      tenantId: 't1',
      stepId: itemKey === undefined ? stepId : `${stepId}[${itemKey}]`,
      actor: 'c.ada',
      decision,
      ...more,
    });
  }

  question(): { readonly question: string; readonly budget: { readonly reached: readonly string[] } } {
    const [wait] = this.state().waits;
    return JSON.parse(wait?.detailText ?? '{}');
  }
}
