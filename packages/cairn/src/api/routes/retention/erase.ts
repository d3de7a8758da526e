/**
 * `POST /v1/runs/{id}/erase` (admin), `POST /v1/erasures` (of a tenant, role `installation`), `GET /v1/erasures` and `/{id}`.
 * An erasure cannot be undone, so the body repeats the id.
 */
import { invalidInput } from '../../../core/errors.ts';
import type { Erasure } from '../../../core/retention/erasure.ts';
import { iso, isoIf } from '../../../core/run/readable.ts';
import {
  assertErasable,
  eraseRun,
  eraseTenant,
  listErasures,
  readErasure,
} from '../../../operations/retention/erasure/request.ts';
import { type Caller, mayActAs } from '../../auth.ts';
import type { ChangeHandler, ReadHandler } from '../../route.ts';
import { runOf } from '../own-run.ts';

export const eraseOne: ChangeHandler<'POST /v1/runs/{id}/erase'> = {
  async before(call) {
    assertConfirmed(call.body.confirm, call.params.id, 'the id of the run');
    // A request about a missing run leaves no record.
    await assertErasable(call.deps, runOf(call));
  },
  work: async (call) => accepted(await eraseRun(call.deps, runOf(call))),
};

export const eraseAll: ChangeHandler<'POST /v1/erasures'> = {
  before: ({ body }) => assertConfirmed(body.confirm, body.tenantId, 'the id of the tenant'),
  async work({ deps, caller, body }) {
    const tenant = { erased: body.tenantId, actor: caller.principal };
    return accepted(await eraseTenant(deps, tenant));
  },
};

export const readOne: ReadHandler<'GET /v1/erasures/{id}'> = async ({ deps, caller, params }) => {
  return erasureView(await readErasure(deps, params.id, tenantSeenBy(caller)));
};

export const list: ReadHandler<'GET /v1/erasures'> = async ({ deps, caller, query }) => {
  const { items, ...rest } = await listErasures(deps, tenantSeenBy(caller), query);
  return { items: items.map(erasureView), ...rest };
};

/** Undefined: the caller sees all tenants. */
function tenantSeenBy({ role, tenantId }: Caller): string | undefined {
  return mayActAs(role, 'installation') ? undefined : tenantId;
}

function assertConfirmed(confirmation: string, expected: string, what: string): void {
  if (confirmation === expected) return;
  throw invalidInput('confirm', `confirm must be ${what} to erase`);
}

function accepted(erasure: Erasure) {
  return { status: 202, body: erasureView(erasure) };
}

function erasureView({
  id,
  scope,
  state,
  roots,
  keptBy,
  gone,
  requestedAt,
  requestedBy,
  finishedAt,
}: Erasure) {
  return {
    id,
    scope,
    state,
    lineagesLeft: roots.length,
    keptBy,
    gone: { ...gone },
    requestedAt: iso(requestedAt),
    requestedBy,
    finishedAt: isoIf(finishedAt),
  };
}
