/** Runs of a tenant: one of each kind that a route may concern. Only these runs are dispatched. */
import { z } from 'zod';
import { Fatal } from '../../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../../packages/cairn/src/engine/drive/drive.ts';
import { release, Scene } from '../../../operations/approvals/scene.ts';
import { Outside } from '../../../support/outside.ts';
import { settle } from '../../../support/virtual-clock.ts';
import { announce, waitingRun, waits } from '../../../support/waiting-runs.ts';
import type { World } from '../../../support/world.ts';
import { echo } from '../../installation.ts';
import type { RunKind } from './table.ts';

export interface OwnRun {
  readonly kind: RunKind;
  readonly id: string;
  /** Sequence number of a checkpoint with an output, if any. */
  readonly seq: string;
  /** Id of an effect that the run asks about, if any. */
  readonly effectId: string;
}

/** Has a schedule. */
export const nightly = defineWorkflow({
  type: 'nightly',
  planVersion: 1,
  input: z.unknown(),
  on: { schedule: [{ id: 'late', cron: '0 3 * * *', input: {} }] },
  steps: (step) => ({ done: step('do', () => 1) }),
});

export const failing = defineWorkflow({
  type: 'failing',
  planVersion: 1,
  input: z.unknown(),
  steps(step) {
    const made = step('make', () => 1);
    return {
      broke: step('break', { needs: { made } }, () => {
        throw new Fatal('it broke');
      }),
    };
  },
});

export class Belongings {
  readonly #outside = new Outside();
  readonly bindings = [this.#outside.binding];
  readonly workflows = [echo, release(), waits, nightly, failing, this.#sending()];

  async give(world: World, tenantId: string): Promise<readonly OwnRun[]> {
    const asking = await Scene.asking({ world, tenantId });
    const driven = await Scene.begun({ world, tenantId, seed: 2 });
    await driven.done('fetch');
    this.#outside.faults.push('lose_answer');
    const doubtful = await restOf(world, 'sending', tenantId);
    const failed = await restOf(world, 'failing', tenantId);
    const expecting = await waitingRun(world);
    await announce(world.deps, expecting);
    return [
      this.#describe(world, 'asking', asking.runId),
      this.#describe(world, 'driven', driven.runId),
      this.#describe(world, 'doubtful', doubtful),
      this.#describe(world, 'failed', failed),
      this.#describe(world, 'expecting', expecting),
    ];
  }

  #describe({ db }: World, kind: RunKind, id: string): OwnRun {
    const { checkpoints, snapshot } = db.runs.get(id) ?? {};
    const withOutput = [...(checkpoints?.values() ?? [])].find(({ outputText }) => outputText !== undefined);
    const effectId = snapshot?.waits.find((wait) => wait.effectId !== undefined)?.effectId;
    return { kind, id, seq: String(withOutput?.seq ?? 1), effectId: effectId ?? NO_EFFECT };
  }

  /** Makes an external call and never gets a response. */
  #sending() {
    const { capability } = this.#outside;
    return defineWorkflow({
      type: 'sending',
      planVersion: 1,
      input: z.unknown(),
      steps: (step) => ({
        sent: step('send', { uses: [capability] }, ({ perform }) => perform(capability, { text: 'hello' })),
      }),
    });
  }
}

/** A well-formed effect id that does not exist. */
export const NO_EFFECT = `${'a'.repeat(64)}.0001`;

/** Starts a run and executes it until it rests. */
async function restOf(world: World, type: string, tenantId: string): Promise<string> {
  const runId = await world.start(type, {}, { tenantId });
  for (const { id, runId: of } of world.queue.pending) if (of === runId) world.queue.take(id);
  let over = false;
  const driving = drive(world.deps, { runId }).finally(() => {
    over = true;
  });
  while (!over) {
    await settle();
    if (!over) world.clock.fireNext();
  }
  await driving;
  return runId;
}
