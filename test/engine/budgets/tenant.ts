/** Runs of one tenant with a budget of the day. */
import { z } from 'zod';
import { dayOf } from '../../../packages/cairn/src/core/budget/day.ts';
import type { BudgetOptions } from '../../../packages/cairn/src/core/budget/day-limits.ts';
import { stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import type { WorkflowOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { MemoryRunFinder } from '../../../packages/cairn/src/memory/memory-run-finder.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import type { DayBudgetDeps } from '../../../packages/cairn/src/operations/approvals/raise-day.ts';
import type { DecideRequest } from '../../../packages/cairn/src/operations/approvals/request.ts';
import { assertStored } from '../../support/soundness.ts';
import { World, type WorldOptions } from '../../support/world.ts';

export class Tenant {
  readonly world: World;
  readonly runs: string[] = [];

  constructor(
    budgets: BudgetOptions,
    steps: WorkflowOptions<object>['steps'],
    more: Omit<WorldOptions, 'workflows' | 'budgets'> = {},
  ) {
    const workflow = defineWorkflow({ type: 'w', planVersion: 1, input: z.object({}), steps });
    this.world = new World({ workflows: [workflow], budgets, ...more });
  }

  async start(count: number, tenantId = 't1'): Promise<void> {
    for (let i = 0; i < count; i += 1) this.runs.push(await this.world.start('w', {}, { tenantId }));
  }

  /** Drives the runs until each asks a person or has ended. */
  async run(deps = this.world.deps): Promise<void> {
    const isStill = (id: string) => STILL.has(this.world.stateOf(id).status);
    await this.world.run(() => this.runs.every(isStill), deps);
  }

  statuses(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const id of this.runs) {
      const { status } = assertStored(this.world.db, id, Number.POSITIVE_INFINITY);
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  }

  asking(): string[] {
    return this.runs.filter((id) => this.world.stateOf(id).status === 'awaiting_approval');
  }

  async today() {
    return (await this.world.dayBudgets.read('t1', dayOf(this.world.clock.now())))?.budget;
  }

  decide(
    runId: string,
    decision: DecideRequest['decision'],
    more: Partial<DecideRequest> = {},
    deps: DayBudgetDeps = this.world.deps,
  ) {
    const [wait] = this.world.stateOf(runId).waits;
    return decideApproval(
      { finder: new MemoryRunFinder(this.world.db), ...deps },
      {
        runId,
        tenantId: 't1',
        stepId: wait ? stepKey(wait.execution) : 'ask',
        actor: 'c.ada',
        mayRaiseDay: true,
        decision,
        ...more,
      },
    );
  }
}

const STILL = new Set(['awaiting_approval', 'completed', 'failed', 'cancelled']);

/** One call for 0.10 USD. */
export const calling =
  (spent: { usd: number; most?: number }, estimate?: { usd: number }): WorkflowOptions<object>['steps'] =>
  (step) => ({
    ask: step('ask', estimate ? { estimate } : {}, async ({ usage }) => {
      spent.usd += 0.1;
      usage({ usd: 0.1 });
      return 'answer';
    }),
  });

/** Runs whose first has spent the budget of the day, and the others ask. */
export async function reached(count = 2) {
  const spent = { usd: 0 };
  const tenant = new Tenant({ perTenantAndDay: { usd: 0.1 } }, calling(spent, { usd: 0.1 }));
  await tenant.start(count);
  await tenant.run();
  const asking = tenant.asking();
  if (asking.length !== count - 1) throw new Error(`${asking.length} of ${count} runs ask`);
  return { tenant, spent, asking };
}
