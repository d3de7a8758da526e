/**
 * `GET /v1/runs/{id}/graph`: graph of a run and the state of each step. One read, whatever the number of steps: the
 * states come from the snapshot, which lists running bodies. Durations are only in the step documents, so they are read
 * on request.
 */

import { MAX_STEPS } from '../../core/graph/graph.ts';
import { readableValue } from '../../core/run/readable.ts';
import type { RunState, StepState } from '../../core/run/state.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { workflowOf } from '../../engine/definition-of-run.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { ReadHandler } from '../route.ts';
import type { View } from '../views/run.ts';
import { statesWithRunning } from '../views/running.ts';
import { nodesOf } from '../views/workflow.ts';
import { ownRun } from './own-run.ts';

/** Documents of one read. */
const STEPS_A_READ = 500;

export const readGraph: ReadHandler<'GET /v1/runs/{id}/graph'> = async (call) => {
  const { store, registry } = call.deps;
  const run = await ownRun(call);
  const { state } = run;
  const { id, type, planVersion, status, head } = state;
  const durationOf = call.query.durations ? await durationsOf(store, id) : () => ({});
  return {
    runId: id,
    type,
    planVersion,
    status,
    head,
    ...nodes(registry, state),
    steps: [...statesWithRunning(run)].map(([key, step]) => ({
      key,
      ...(readableValue(step) as View),
      ...durationOf(key, step),
    })),
  };
};

/** Empty if the plan of the run is not deployed: then only the steps that have started are known. */
function nodes(registry: WorkflowRegistry, state: RunState): { nodes?: object[] } {
  const workflow = workflowOf(registry, state);
  return workflow ? { nodes: nodesOf(workflow) } : {};
}

type DurationOf = (key: string, step: StepState) => { readonly durationMs?: number };

/** A step document may be newer than the snapshot: its duration is used only if the step has ended in the same revision. */
async function durationsOf(store: RunStore, runId: string): Promise<DurationOf> {
  const found = new Map<string, { readonly revision: number; readonly durationMs: number }>();
  let cursor: string | undefined;
  do {
    const page = await store.listSteps(runId, { limit: STEPS_A_READ, cursor });
    for (const { id, revision, durationMs } of page.items)
      if (durationMs !== undefined) found.set(id, { revision, durationMs });
    cursor = page.next;
  } while (cursor !== undefined && found.size < MAX_STEPS);
  return (key, { phase, revision }) => {
    const known = found.get(key);
    return phase === 'done' && known?.revision === revision ? { durationMs: known.durationMs } : {};
  };
}
