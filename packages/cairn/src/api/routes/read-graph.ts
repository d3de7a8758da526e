/**
 * `GET /v1/runs/{id}/graph`: what a run is made of and where each step stands, for who draws it. One read, however many
 * steps there are: the states come from the snapshot, which names the bodies under way.
 */

import type { RunState } from '../../core/run/state.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { workflowOf } from '../../engine/deployed.ts';
import type { Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { readQuery } from '../query.ts';
import type { View } from '../views/run.ts';
import { statesWithRunning } from '../views/running.ts';
import { readable } from '../views/values.ts';
import { nodesOf } from '../views/workflow.ts';
import { ownRun, type RunAddress } from './read-runs.ts';

export async function readGraph(
  { start, registry }: ApiDeps,
  caller: Caller,
  { runId, url }: RunAddress,
): Promise<Response> {
  readQuery(url, []);
  const run = await ownRun(start.store, caller, runId);
  const { state } = run;
  const { id, type, planVersion, status, head } = state;
  return Response.json({
    runId: id,
    type,
    planVersion,
    status,
    head,
    ...nodes(registry, state),
    steps: [...statesWithRunning(run)].map(([key, step]) => ({ key, ...(readable(step) as View) })),
  });
}

/** None if the plan of the run is not deployed: then only what has begun is known. */
function nodes(registry: WorkflowRegistry, state: RunState): { nodes?: object[] } {
  const workflow = workflowOf(registry, state);
  return workflow ? { nodes: nodesOf(workflow) } : {};
}
