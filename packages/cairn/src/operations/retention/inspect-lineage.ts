/** Decides about a lineage from its stored state. Only reads. */
import {
  type LineageDecision,
  type LineageFacts,
  lineageDecision,
  relativesOf,
} from '../../core/retention/lineage.ts';
import type { LineageMember } from '../../ports/runs/retention-store.ts';
import type { LineageDeps } from './deps.ts';
import { MAX_MEMBERS } from './tick-budget.ts';

export interface InspectedLineage {
  readonly members: readonly LineageMember[];
  /** `gone`: the lineage no longer exists. */
  readonly decision: LineageDecision | { readonly kind: 'gone' };
}

/** @throws errors of the store, including an unreadable run, because it is then unknown whether anything may be deleted */
export async function inspectLineage(
  { retention, retentionOf, clock, graceMs }: LineageDeps,
  rootRunId: string,
): Promise<InspectedLineage> {
  const members = await retention.lineage(rootRunId, MAX_MEMBERS + 1);
  if (members.length > MAX_MEMBERS) {
    const reason = { why: 'too_many' as const, runId: rootRunId };
    return { members, decision: { kind: 'keep', reason, unmark: [] } };
  }
  // The lineage was deleted after it was found.
  if (members.length === 0) return { members, decision: { kind: 'gone' } };
  const relatives = await retention.present(relativesOf(members));
  const facts: LineageFacts<LineageMember> = { members, relatives };
  return { members, decision: lineageDecision(facts, { now: clock.now(), retentionOf, graceMs }) };
}
