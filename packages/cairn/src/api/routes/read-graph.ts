/**
 * `GET /v1/runs/{id}/graph`: what a run is made of and where each step stands, for who draws it. One read, however many
 * steps there are: the states come from the snapshot.
 */
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import type { Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { readQuery } from '../query.ts';
import type { View } from '../views/run.ts';
import { readable } from '../views/values.ts';
import { nodesOf } from '../views/workflow.ts';
import { ownRun, type RunAddress } from './read-runs.ts';

export async function readGraph(
  { start, registry }: ApiDeps,
  caller: Caller,
  { runId, url }: RunAddress,
): Promise<Response> {
  readQuery(url, []);
  const { state } = await ownRun(start.store, caller, runId);
  const { id, type, planVersion, status, head } = state;
  return Response.json({
    runId: id,
    type,
    planVersion,
    status,
    head,
    ...nodes(registry, type, planVersion),
    steps: [...state.steps].map(([key, step]) => ({ key, ...(readable(step) as View) })),
  });
}

/** None if the plan version is not deployed: then only what has begun is known. */
function nodes(registry: WorkflowRegistry, type: string, planVersion: number): { nodes?: object[] } {
  const workflow = registry.pinned(type, planVersion);
  return workflow ? { nodes: nodesOf(workflow) } : {};
}
