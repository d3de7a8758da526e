/**
 * `GET /v1/workflows`, and pausing one. A pause holds for the runs of every tenant, since one deployment runs them all,
 * so it takes the role `installation`. Other callers see that a workflow is paused and since when, not why.
 */
import { z } from 'zod';
import { changesIn } from '../../../engine/plans/known-plans.ts';
import { readConfig } from '../../../operations/runtime/change-config.ts';
import {
  assertKnownWorkflow,
  type PauseRequest,
  pauseWorkflow,
  unpauseWorkflow,
} from '../../../operations/runtime/pause-workflow.ts';
import type { LiveVersion } from '../../../ports/run-census.ts';
import { assertRole, type Caller, mayActAs } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { answerOnce, assertThere, type Mutation, principalOf, readMutation } from '../../mutation.ts';
import { readQuery } from '../../query.ts';
import { pauseView, workflowView } from '../../views/workflow.ts';

/** Versions with live runs that are counted. More than this is years of deployments with runs never ended. */
export const MAX_LIVE_VERSIONS = 200;
/** A sentence or two; it stands in a document that every drive reads. */
const MAX_REASON_CHARS = 500;

export const PauseBody = z.strictObject({ reason: z.string().min(1).max(MAX_REASON_CHARS).optional() });

/** Live runs are those of the caller's tenant. Bounded by what is deployed and {@link MAX_LIVE_VERSIONS}: no pages. */
export async function listWorkflows(deps: ApiDeps, caller: Caller, url: string): Promise<Response> {
  readQuery(url, []);
  const { registry, census, start } = deps;
  const [config, live, changes] = await Promise.all([
    readConfig({ ...start, config: deps.config }),
    census.liveVersions(caller.tenantId, MAX_LIVE_VERSIONS),
    changesIn(start.plans, registry),
  ]);
  const liveOf = Map.groupBy(live, ({ type }: LiveVersion) => type);
  const types = new Set([...registry.types(), ...liveOf.keys()]);
  const items = [...types].sort().map((type) =>
    workflowView({
      type,
      deployed: registry.versions(type),
      live: liveOf.get(type) ?? [],
      changes: changes.filter((change) => change.type === type),
      paused: config.paused.get(type),
      showsReason: mayActAs(caller.role, 'installation'),
    }),
  );
  const { killSwitch } = config;
  return Response.json({
    killSwitch,
    items,
    ...(live.length === MAX_LIVE_VERSIONS ? { countedVersions: MAX_LIVE_VERSIONS } : {}),
  });
}

export interface WorkflowAddress {
  readonly type: string;
  readonly request: Request;
}

/** `POST /v1/workflows/{type}/pause`. */
export async function pauseFromApi(deps: ApiDeps, caller: Caller, at: WorkflowAddress): Promise<Response> {
  const mutation = await admitted(deps, caller, at);
  return answerOnce(deps, caller, mutation, async () => {
    const mark = await pauseWorkflow(runtimeDeps(deps), requestOf(caller, at, mutation));
    return { status: 200, body: { type: at.type, paused: pauseView(mark) } };
  });
}

/** `POST /v1/workflows/{type}/unpause`. */
export async function unpauseFromApi(deps: ApiDeps, caller: Caller, at: WorkflowAddress): Promise<Response> {
  const mutation = await admitted(deps, caller, at);
  return answerOnce(deps, caller, mutation, async () => {
    const { woken } = await unpauseWorkflow(runtimeDeps(deps), requestOf(caller, at, mutation));
    return { status: 200, body: { type: at.type, paused: null, woken } };
  });
}

/** What the operations on the whole installation need. */
export function runtimeDeps({ start, config, census, registry }: ApiDeps) {
  return { ...start, config, census, registry };
}

type PauseMutation = Mutation<z.infer<typeof PauseBody>>;

async function admitted(deps: ApiDeps, caller: Caller, at: WorkflowAddress): Promise<PauseMutation> {
  assertRole(caller, 'installation');
  const mutation = await readMutation(at.request, PauseBody);
  const look = () => assertKnownWorkflow(runtimeDeps(deps), at.type);
  await assertThere(deps, caller, { key: mutation.key, look });
  return mutation;
}

function requestOf(caller: Caller, { type }: WorkflowAddress, { body }: PauseMutation): PauseRequest {
  return { type, actor: principalOf(caller), tenantId: caller.tenantId, reason: body.reason };
}
