/**
 * Retention of a lineage: the runs with one `rootRunId`, which share outputs and ledger and are therefore deleted together or not
 * at all. Pure.
 *
 * A lineage is first marked, which hides it, and deleted {@link DELETION_GRACE_MS} later if it may still be deleted. By then,
 * every process that read it before to create a successor has written the successor or ended.
 */
import { isTerminal, type RunStatus } from '../run/status.ts';
import { expireAt, type RetentionOf } from './policy.ts';

/** Longer than a function can take between a read and a write (540 s), with room for clocks that differ. */
export const DELETION_GRACE_MS = 15 * 60_000;

/** Set by a person: the run, and with it its lineage, must not be deleted. */
export interface LegalHold {
  /** The principal, as journals name it. */
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  readonly reason: string;
}

/** A run as retention sees it. */
export interface Member {
  readonly runId: string;
  readonly type: string;
  readonly status: RunStatus;
  readonly completedAt?: number | undefined;
  /** The run has completion duties left, or unpublished events. */
  readonly hasDuties: boolean;
  readonly hold?: LegalHold | undefined;
  /** Time at which it was marked for deletion, epoch ms. */
  readonly markedAt?: number | undefined;
  /** Parent run, of another lineage. */
  readonly parentRunId?: string | undefined;
  /** Children of other lineages whose end the run had not recorded when it ended. */
  readonly childRunIds: readonly string[];
}

/** Existing runs of other lineages that a member names. */
type Relatives = ReadonlyMap<string, { readonly isOver: boolean }>;

/** The reason why a lineage stays, with the run that keeps it. */
export type KeptReason =
  | { readonly why: 'live' | 'owes' | 'held'; readonly runId: string }
  /** `dueAt` absent: it is kept for ever. */
  | { readonly why: 'not_due'; readonly runId: string; readonly dueAt?: number }
  /** A child is kept as long as its parent: a successor of the parent continues it. */
  | { readonly why: 'parent'; readonly runId: string; readonly parentRunId: string }
  | { readonly why: 'child'; readonly runId: string; readonly childRunId: string }
  /** It has more runs than are checked. */
  | { readonly why: 'too_many'; readonly runId: string };

export type LineageDecision =
  /** `unmark`: marked runs that must be kept after all. */
  | { readonly kind: 'keep'; readonly reason: KeptReason; readonly unmark: readonly string[] }
  | { readonly kind: 'mark'; readonly runIds: readonly string[] }
  /** All runs are marked; the lineage is deleted after `until`. */
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'delete' };

export interface LineageFacts<M extends Member = Member> {
  readonly members: readonly M[];
  readonly relatives: Relatives;
}

interface LineageCheck {
  /** Epoch ms, by the clock that also gave the times of the marks. */
  readonly now: number;
  readonly retentionOf: RetentionOf;
  /** Longer where functions take longer than usual. Default: {@link DELETION_GRACE_MS}. */
  readonly graceMs?: number | undefined;
}

export function lineageDecision(
  { members, relatives }: LineageFacts,
  { now, retentionOf, graceMs = DELETION_GRACE_MS }: LineageCheck,
): LineageDecision {
  const marked = members.filter(({ markedAt }) => markedAt !== undefined);
  const own = new Set(members.map(({ runId }) => runId));
  for (const member of members) {
    const reason = reasonToKeep(member, { now, retentionOf, relatives, own });
    if (reason) return { kind: 'keep', reason, unmark: marked.map(({ runId }) => runId) };
  }
  const open = members.filter(({ markedAt }) => markedAt === undefined);
  if (open.length > 0) return { kind: 'mark', runIds: open.map(({ runId }) => runId) };
  const until = Math.max(...members.map(({ markedAt = now }) => markedAt)) + graceMs;
  return now < until ? { kind: 'wait', until } : { kind: 'delete' };
}

/** Runs of other lineages that the decision depends on. */
export function relativesOf(members: readonly Member[]): string[] {
  const own = new Set(members.map(({ runId }) => runId));
  const named = members.flatMap(({ parentRunId, childRunIds }) =>
    parentRunId === undefined ? childRunIds : [parentRunId, ...childRunIds],
  );
  return [...new Set(named)].filter((runId) => !own.has(runId));
}

interface LineageView {
  readonly now: number;
  readonly retentionOf: RetentionOf;
  readonly relatives: Relatives;
  readonly own: ReadonlySet<string>;
}

function reasonToKeep(
  member: Member,
  { now, retentionOf, relatives, own }: LineageView,
): KeptReason | undefined {
  const { runId, status, hasDuties, hold, markedAt, parentRunId, childRunIds } = member;
  if (!isTerminal(status)) return { why: 'live', runId };
  if (hold) return { why: 'held', runId };
  if (hasDuties) return { why: 'owes', runId };
  // A marked run was due. Parts of it may already be deleted, so a longer retention would keep an incomplete lineage.
  if (markedAt === undefined) {
    const dueAt = expireAt(member, retentionOf);
    if (dueAt === undefined) return { why: 'not_due', runId };
    if (now < dueAt) return { why: 'not_due', runId, dueAt };
  }
  if (parentRunId !== undefined && relatives.has(parentRunId) && !own.has(parentRunId))
    return { why: 'parent', runId, parentRunId };
  const childRunId = childRunIds.find((child) => relatives.get(child)?.isOver === false);
  return childRunId === undefined ? undefined : { why: 'child', runId, childRunId };
}
