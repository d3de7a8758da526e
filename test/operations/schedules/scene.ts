/** An installation in memory whose schedules are ticked manually, at times that the test gives in minutes. */
import { z } from 'zod';
import { armed } from '../../../packages/cairn/src/core/schedule/due.ts';
import type { Schedule } from '../../../packages/cairn/src/core/schedule/schedule.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { type TickDeps, type TickReport, tick } from '../../../packages/cairn/src/triggers/schedule/tick.ts';
import { World } from '../../support/world.ts';

export const MINUTE = 60_000;
export const T0 = Date.UTC(2026, 0, 1);
export const TENANT = 'acme';

/** Returns its input, so that a run shows what it was given. */
export const echo = defineWorkflow({
  type: 'echo',
  planVersion: 1,
  input: z.object({ text: z.string().default(''), slot: z.string().optional() }),
  steps: (step) => ({ said: step('say', ({ input }) => ({ ...input })) }),
});

export function stored(changes: Partial<Schedule> = {}): Schedule {
  const plain: Schedule = {
    id: 'sch_1',
    tenantId: TENANT,
    origin: 'stored',
    state: 'active',
    type: 'echo',
    cron: '*/5 * * * *',
    timezone: 'Etc/UTC',
    input: {},
    catchUp: 'latest',
    settledUntil: T0,
    fired: 0,
    skipped: 0,
    refused: 0,
    createdAt: T0,
    updatedAt: T0,
    ...changes,
  };
  return armed(plain, plain.settledUntil);
}

export class Scene {
  readonly world: World;
  readonly deps: TickDeps;

  constructor(workflows: readonly Workflow[] = [echo]) {
    this.world = new World({ workflows });
    this.deps = this.depsOver(workflows);
  }

  /** The same installation after another deployment. */
  depsOver(workflows: readonly Workflow[]): TickDeps {
    const { deps, records, schedules } = this.world;
    const registry = new WorkflowRegistry(workflows);
    return { ...deps, records, schedules, registry, environment: 'test', declaredTenant: TENANT };
  }

  /** @param minutes of virtual time since the beginning */
  async tickAt(minutes: number, deps = this.deps): Promise<TickReport> {
    this.goTo(minutes);
    return tick(deps);
  }

  goTo(minutes: number): void {
    this.world.clock.jump(T0 + minutes * MINUTE - this.world.clock.now());
  }

  async schedule(id = 'sch_1'): Promise<Schedule> {
    const found = await this.deps.schedules.read(id);
    if (!found) throw new Error(`no schedule ${id}`);
    return found.schedule;
  }

  /** The slots that have runs, in minutes. A slot with two runs appears twice. */
  slots(): number[] {
    return [...this.world.db.runs.values()]
      .map(({ snapshot }) => snapshot.input)
      .map((input) => (JSON.parse('text' in input ? input.text : '{}') as { slot: string }).slot)
      .map((slot) => (Date.parse(slot) - T0) / MINUTE)
      .sort((a, b) => a - b);
  }
}
