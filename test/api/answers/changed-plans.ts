/** Answers of routes if a definition differs from the stored plan of its version. */
import { z } from 'zod';
import type { ApiDeps } from '../../../packages/cairn/src/api/deps.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Route } from '../access/routes/table.ts';
import { type Case, to } from './cases.ts';

/** Every workflow under its type and version, with another graph. */
const changed = (deps: ApiDeps): ApiDeps => {
  const registry = new WorkflowRegistry(
    deps.registry.types().flatMap((type) =>
      deps.registry.versions(type).map(({ planVersion }) =>
        defineWorkflow({
          type,
          planVersion,
          input: z.any(),
          steps: (step) => ({ other: step('other', () => 1) }),
        }),
      ),
    ),
  );
  return { ...deps, registry };
};

const SIGNALS: Route = 'POST /v1/runs/{id}/signals';
const BODIES: { readonly [R in Route]?: object } = {
  'POST /v1/runs/{id}/signals': { name: 'built', data: {} },
  'POST /v1/runs/{id}/effects/{effectId}/resolve': { outcome: 'failed' },
};
const ROUTES: readonly Route[] = [
  'POST /v1/runs',
  'POST /v1/runs/{id}/approvals/{stepId}',
  'POST /v1/runs/{id}/effects/{effectId}/resolve',
  'POST /v1/runs/{id}/resume',
  'POST /v1/runs/{id}/replay',
  'POST /v1/runs/{id}/fork',
  'POST /v1/runs/{id}/signals',
  'POST /v1/runs/{id}/waits/{stepId}/fail',
];

export const CHANGED_PLANS: readonly Case[] = ROUTES.map((route) => ({
  route,
  because: 'a workflow that was changed under its version',
  status: 409,
  code: 'PLAN_CHANGED',
  ask: to(route, ({ named }) => (route === SIGNALS ? { id: named.waiting } : {}), BODIES[route]),
  around: changed,
}));
