/** The effects of a run: what it did outside, and what a person says of one that is in doubt. */
import { z } from 'zod';
import { type EffectRecord, isEffectId, RESOLUTIONS } from '../../core/effects/effect.ts';
import { CairnError } from '../../core/errors.ts';
import { someAtOnce } from '../../core/some-at-once.ts';
import { assertMakesSense } from '../../operations/effects/request.ts';
import { resolveEffect } from '../../operations/effects/resolve-effect.ts';
import { loadOwn } from '../../operations/outside-append.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { answerOnce, principalOf, readMutation } from '../mutation.ts';
import { pageRequest, readQuery } from '../query.ts';
import { effectView } from '../views/documents.ts';
import { iso } from '../views/values.ts';
import { ownRun, type RunAddress } from './read-runs.ts';

export const ResolveBody = z.strictObject({
  outcome: z.enum(RESOLUTIONS),
  result: z.unknown().optional(),
  note: z.string().optional(),
});

/**
 * `GET /v1/runs/{id}/effects`, in the order in which the run made them; at the end those of earlier runs of its lineage that it
 * asks a person about, who must see what was done to say what became of it.
 */
export async function listEffects(
  { start, effects }: ApiDeps,
  caller: Caller,
  at: RunAddress,
): Promise<Response> {
  const page = pageRequest(readQuery(at.url, ['limit', 'cursor']));
  const { state } = await ownRun(start.store, caller, at.runId);
  const { items, next } = await effects.listOfRun(at.runId, page);
  if (next !== undefined) return Response.json({ items: items.map(effectView), next });
  const known = new Set(items.map(({ effectId }) => effectId));
  const asked = state.waits.flatMap(({ purpose, effectId }) =>
    purpose === 'effect' && effectId !== undefined && !known.has(effectId) ? [effectId] : [],
  );
  const rows = await rowsOfOthers(effects, state.id, asked);
  return Response.json({ items: [...items, ...rows].map(effectView) });
}

/** Rows read at once; a run asks about as many as its bodies act outside at a time. */
const CONCURRENT_ROWS = 10;

async function rowsOfOthers(
  effects: ApiDeps['effects'],
  runId: string,
  asked: readonly string[],
): Promise<EffectRecord[]> {
  const found = await someAtOnce(asked, CONCURRENT_ROWS, (effectId) => effects.read(effectId));
  return found.flatMap((stored) => (stored && stored.record.runId !== runId ? [stored.record] : []));
}

export interface EffectAddress extends RunAddress {
  readonly effectId: string;
}

/** `POST /v1/runs/{id}/effects/{effectId}/resolve`. */
export async function resolveFromApi(
  deps: ApiDeps,
  caller: Caller,
  { runId, effectId, request }: EffectAddress & { readonly request: Request },
): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(request, ResolveBody);
  assertMakesSense(mutation.body);
  const { tenantId } = caller;
  // Before anything is kept: a request about what is not there leaves nothing behind.
  await loadOwn(deps.start, { runId, tenantId });
  if (!isEffectId(effectId) || (await deps.effects.read(effectId))?.record.tenantId !== tenantId) {
    throw new CairnError('NOT_FOUND', 'the run has no effect with this id', { field: 'effectId' });
  }
  const { start, effects, bindings, registry } = deps;
  return answerOnce(deps, caller, mutation, async () => {
    const resolved = await resolveEffect(
      { ...start, effects, bindings, registry },
      { ...mutation.body, runId, tenantId, effectId, actor: principalOf(caller) },
    );
    return { status: 200, body: { ...resolved, resolvedAt: iso(resolved.resolvedAt) } };
  });
}
