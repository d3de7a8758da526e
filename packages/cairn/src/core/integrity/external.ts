/**
 * Problems of the ledger rows of effects without a run (docs/once.md). They have no journal, so a row is compared with its owner,
 * its key and the other rows of the key. Pure.
 */
import { type EffectRecord, effectIdOf } from '../effects/effect.ts';
import { EXTERNAL_PLACE, effectAskingSince, keyOfOwner, ownersOf } from '../effects/external.ts';
import { effectKey } from '../effects/keys.ts';
import { compare, type DocumentKind } from './compare.ts';
import { EFFECTS, isIdOf, rowDifferences } from './effects.ts';
import type { FoundDocument } from './found.ts';
import type { ConsistencyProblem } from './problems.ts';

/** @param found all rows that name the owner */
export function externalProblems(
  owner: string,
  found: readonly FoundDocument<EffectRecord>[],
): ConsistencyProblem[] {
  const kind: DocumentKind<EffectRecord, { readonly n: number }> = {
    ...EFFECTS,
    missing: ({ n }) => ['EFFECT_MISSING', { n }],
    differences(row, _, id) {
      const members = wrongMembers(owner, id, row);
      return members.length === 0 ? [] : [['EFFECT_DIFFERENT', { members }]];
    },
  };
  const expected = new Map(found.map(({ id }) => [id, { n: 0 }]));
  const problems = compare(kind, { found, expected, head: 0 });
  // A row with a problem may be the missing one.
  if (problems.length > 0) return problems;
  const rows = found.flatMap((one) => (one.kind === 'sound' ? [one.value] : []));
  return compare(kind, { found: [], expected: gaps(rows), head: 0 });
}

/** Names of members that contradict the owner, the key or each other. */
function wrongMembers(owner: string, id: string, row: EffectRecord): string[] {
  const { capabilityId, tenantId, updatedAt, expiresAt } = row;
  const call = keyOfOwner(owner);
  const place = { ...EXTERNAL_PLACE, rootRunId: owner };
  const members = new Set(
    rowDifferences(row, {
      ...place,
      runId: owner,
      itemKey: undefined,
      epoch: 0,
      call,
      idempotencyKey: effectKey({ ...place, capabilityId, call }),
      effectId: id,
    }),
  );
  if (!owner.startsWith(ownersOf(tenantId))) members.add('tenantId');
  if (!isIdOf(id, row)) members.add('effectId');
  // Only the presence of the time matters here.
  const asks = effectAskingSince(row, { now: updatedAt, underWayMs: 0 }) !== undefined;
  if ((row.askingSince !== undefined) !== asks) members.add('askingSince');
  // A row that asks must not expire.
  if (asks && expiresAt !== undefined) members.add('expiresAt');
  return [...members].sort();
}

/** Missing numbers among the rows of a key. Rows with a lifetime may have expired. */
function gaps(rows: readonly EffectRecord[]): Map<string, { readonly n: number }> {
  const missing = new Map<string, { readonly n: number }>();
  for (const [key, ofKey] of Map.groupBy(rows, ({ idempotencyKey }) => idempotencyKey)) {
    if (ofKey.some(({ keepMs, expiresAt }) => keepMs !== undefined || expiresAt !== undefined)) continue;
    const numbers = new Set(ofKey.map(({ n }) => n));
    for (let n = 1; n < Math.max(...numbers); n += 1) {
      if (!numbers.has(n)) missing.set(effectIdOf(key, n), { n });
    }
  }
  return missing;
}
