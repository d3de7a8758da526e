/**
 * `GET /v1/workflows`, and pausing one. A pause applies to the runs of every tenant, because all tenants share one deployment,
 * so it requires the role `installation`. Other callers see that a workflow is paused and since when, but not why.
 */
import { CairnError } from '../../../core/errors.ts';
import { declaredType } from '../../../core/flow/parts.ts';
import { changesIn } from '../../../engine/plans/known-plans.ts';
import { readConfig } from '../../../operations/runtime/change-config.ts';
import {
  assertKnownWorkflow,
  pauseWorkflow,
  unpauseWorkflow,
} from '../../../operations/runtime/pause-workflow.ts';
import type { LiveVersion } from '../../../ports/run-statistics.ts';
import { mayActAs } from '../../auth.ts';
import type { ChangeHandler, ReadHandler } from '../../route.ts';
import { inputSchemaOf, pauseView, workflowView } from '../../views/workflow.ts';
import { actingOf } from './runtime.ts';

/** Versions with live runs that are counted. Only years of deployments with runs that never end exceed it. */
const MAX_LIVE_VERSIONS = 200;
/**
 * Live runs are those of the caller's tenant. The number of deployed versions and {@link MAX_LIVE_VERSIONS} bound the list, so
 * there are no pages.
 */
export const listWorkflows: ReadHandler<'GET /v1/workflows'> = async ({ deps, caller, query }) => {
  const { registry, statistics } = deps;
  const isSummary = query.summary;
  const [config, live, changes] = await Promise.all([
    readConfig(deps),
    statistics.liveVersions(caller.tenantId, MAX_LIVE_VERSIONS),
    isSummary ? [] : changesIn(deps.plans, registry),
  ]);
  // The inner workflow of a loop is not listed, because the run of the loop is counted.
  const declared = live.filter(({ type }) => declaredType(type) === type);
  const liveOf = Map.groupBy(declared, ({ type }: LiveVersion) => type);
  const types = new Set([...registry.types(), ...liveOf.keys()]);
  const items = [...types].sort().map((type) =>
    workflowView({
      type,
      deployed: registry.versions(type),
      live: liveOf.get(type) ?? [],
      changes: changes.filter((change) => change.type === type),
      paused: config.paused.get(type),
      showsReason: mayActAs(caller.role, 'installation'),
      isSummary,
    }),
  );
  const { killSwitch, restore } = config;
  return {
    killSwitch,
    restored: restore?.isPaused,
    items,
    countedVersions: live.length === MAX_LIVE_VERSIONS ? MAX_LIVE_VERSIONS : undefined,
  };
};

/** `GET /v1/workflows/{type}/input`. Reads nothing from the store. */
export const readWorkflowInput: ReadHandler<'GET /v1/workflows/{type}/input'> = async ({
  deps: { registry },
  params: { type },
}) => {
  const workflow = registry.newest(type);
  if (!workflow)
    throw new CairnError('NOT_FOUND', 'no workflow of this type is deployed', {
      field: 'type',
      help: 'GET /v1/workflows lists the deployed types.',
    });
  const { planVersion } = workflow;
  return { type, planVersion, schema: inputSchemaOf(workflow) };
};

export const pause: ChangeHandler<'POST /v1/workflows/{type}/pause'> = {
  before: ({ deps, params: { type } }) => assertKnownWorkflow(deps, type),
  async work({ deps, caller, params: { type }, body }) {
    const mark = await pauseWorkflow(deps, { type, ...actingOf(caller), reason: body.reason });
    return { status: 200, body: { type, paused: pauseView(mark) } };
  },
};

export const unpause: ChangeHandler<'POST /v1/workflows/{type}/unpause'> = {
  before: ({ deps, params: { type } }) => assertKnownWorkflow(deps, type),
  async work({ deps, caller, params: { type }, body }) {
    const request = { type, ...actingOf(caller), reason: body.reason };
    const { woken } = await unpauseWorkflow(deps, request);
    return { status: 200, body: { type, paused: null, woken } };
  },
};
