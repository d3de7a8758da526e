/**
 * Problems of the ledger rows of effects without a run (docs/once.md). No journal vouches for them: a row is compared with its owner,
 * its key, the other rows of its key, and itself. Pure.
 */
import { type EffectRecord, effectIdOf } from '../effects/effect.ts';
import { askingSince, EXTERNAL_PLACE, keyOfOwner, ownersOf } from '../effects/external.ts';
import { effectKey } from '../effects/keys.ts';
import { messageOf } from '../thrown.ts';
import { isIdOf, resultAmiss, unreadableRow } from './effects.ts';
import type { FoundDocument } from './facts.ts';
import { type Problem, unhealable } from './problems.ts';

/** @param rows all rows that name the owner */
export function externalProblems(owner: string, rows: readonly FoundDocument<EffectRecord>[]): Problem[] {
  const problems = rows.flatMap((found) => problemsOf(owner, found));
  // A row with a problem may be the one that is missing.
  if (problems.length > 0) return problems;
  return gaps(rows.flatMap((found) => (found.kind === 'sound' ? [found.value] : [])));
}

function problemsOf(owner: string, found: FoundDocument<EffectRecord>): Problem[] {
  const subject = `effects/${found.id}`;
  if (found.kind !== 'sound') return [unreadableRow(found, subject)];
  try {
    const members = amiss(owner, found.id, found.value);
    return members.length === 0 ? [] : [unhealable('EFFECT_DIFFERENT', subject, { members })];
  } catch (error) {
    return [unhealable('EFFECT_UNREADABLE', subject, { reason: messageOf(error) })];
  }
}

/** Names of members that contradict the owner, the key or each other. */
function amiss(owner: string, id: string, row: EffectRecord): string[] {
  const { stepId, revision } = EXTERNAL_PLACE;
  const key = effectKey({
    ...EXTERNAL_PLACE,
    rootRunId: owner,
    capabilityId: row.capabilityId,
    call: keyOfOwner(owner),
  });
  // Its time is that of a call; here it counts whether there is one.
  const asks = askingSince(row, { now: row.updatedAt, underWayMs: 0 }) !== undefined;
  const sound: Readonly<Record<string, boolean>> = {
    runId: row.runId === owner,
    rootRunId: row.rootRunId === owner,
    tenantId: owner.startsWith(ownersOf(row.tenantId)),
    stepId: row.stepId === stepId,
    itemKey: row.itemKey === undefined,
    revision: row.revision === revision,
    epoch: row.epoch === 0,
    call: row.call === keyOfOwner(owner),
    idempotencyKey: row.idempotencyKey === key,
    effectId: row.effectId === id && isIdOf(id, row),
    askingSince: (row.askingSince !== undefined) === asks,
    // Something may still happen by it.
    expiresAt: row.expiresAt === undefined || !asks,
  };
  const members = Object.keys(sound).filter((name) => !sound[name]);
  return [...members, ...resultAmiss(row)].sort();
}

/** Numbers that no row of a key has. Where rows are deleted after a time, they may be gone. */
function gaps(rows: readonly EffectRecord[]): Problem[] {
  return [...Map.groupBy(rows, ({ idempotencyKey }) => idempotencyKey)].flatMap(([key, ofKey]) => {
    if (ofKey.some(({ keepMs, expiresAt }) => keepMs !== undefined || expiresAt !== undefined)) return [];
    const numbers = new Set(ofKey.map(({ n }) => n));
    const missing: number[] = [];
    for (let n = 1; n < Math.max(...numbers); n += 1) if (!numbers.has(n)) missing.push(n);
    return missing.map((n) => unhealable('EFFECT_MISSING', `effects/${effectIdOf(key, n)}`, { n }));
  });
}
