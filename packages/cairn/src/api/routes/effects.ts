/** Lists the effects of a run, or of a key without a run, and resolves an effect in doubt. */
import { type EffectRecord, isEffectId } from '../../core/effects/effect.ts';
import { CairnError } from '../../core/errors.ts';
import { mapConcurrently } from '../../core/map-concurrently.ts';
import { iso } from '../../core/run/readable.ts';
import { isOwnExternal, resolveExternal } from '../../operations/effects/external.ts';
import { assertNote } from '../../operations/effects/resolution.ts';
import { resolveEffect } from '../../operations/effects/resolve-effect.ts';
import type { ApiDeps } from '../deps.ts';
import type { ChangeHandler, ReadHandler } from '../route.ts';
import { effectView } from '../views/documents.ts';
import { assertOwnRun, ownRun, runOf } from './own-run.ts';

/**
 * `GET /v1/runs/{id}/effects`, in the order of the run, followed by effects of earlier runs of its lineage that it asks about,
 * because an operator has to see these too.
 */
export const listEffects: ReadHandler<'GET /v1/runs/{id}/effects'> = async (call) => {
  const { effects } = call.deps;
  const page = call.query;
  const { id } = call.params;
  if (isOwnExternal(id, call.caller.tenantId)) {
    const { items, next } = await effects.listOfRun(id, page);
    return { items: items.map(effectView), next };
  }
  const { state } = await ownRun(call);
  const { items, next } = await effects.listOfRun(state.id, page);
  if (next !== undefined) return { items: items.map(effectView), next };
  const known = new Set(items.map(({ effectId }) => effectId));
  const askedAbout = state.waits.flatMap(({ purpose, effectId }) =>
    purpose === 'effect' && effectId !== undefined && !known.has(effectId) ? [effectId] : [],
  );
  const rows = await rowsOfOthers(effects, state.id, askedAbout);
  return { items: [...items, ...rows].map(effectView) };
};

/** Rows read at once. A run can ask about as many effects as its bodies have concurrent calls. */
const CONCURRENT_ROWS = 10;

async function rowsOfOthers(
  effects: ApiDeps['effects'],
  runId: string,
  call: readonly string[],
): Promise<EffectRecord[]> {
  const found = await mapConcurrently(call, CONCURRENT_ROWS, (effectId) => effects.read(effectId));
  return found.flatMap((stored) => (stored && stored.record.runId !== runId ? [stored.record] : []));
}
export const resolve: ChangeHandler<'POST /v1/runs/{id}/effects/{effectId}/resolve'> = {
  async before(call) {
    assertNote(call.body);
    if (!isOwnExternal(call.params.id, call.caller.tenantId)) await assertOwnRun(call);
    const { effectId } = call.params;
    const stored = isEffectId(effectId) ? await call.deps.effects.read(effectId) : undefined;
    if (stored?.record.tenantId !== call.caller.tenantId) {
      throw new CairnError('NOT_FOUND', 'the run has no effect with this id', { field: 'effectId' });
    }
  },
  async work(call) {
    const { effectId } = call.params;
    const request = { ...call.body, ...runOf(call), effectId };
    const resolved = isOwnExternal(request.runId, request.tenantId)
      ? await resolveExternal(call.deps, request)
      : await resolveEffect(call.deps, request);
    return { status: 200, body: { ...resolved, resolvedAt: iso(resolved.resolvedAt) } };
  },
};
