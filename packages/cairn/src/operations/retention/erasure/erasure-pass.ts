/**
 * One pass over an erasure: marks and deletes lineages like retention, regardless of their retention period, and
 * records the number of deletions. Passes may run concurrently and may be interrupted: the next pass continues. Counts of a pass
 * that died before it recorded them are lost.
 *
 * Must not: decide what may be erased (request.ts).
 */
import { mailboxId } from '../../../core/mailbox/mailbox.ts';
import { erasedUntil } from '../../../core/mailbox/tidy.ts';
import { workThrough, workThroughAll } from '../../../core/map-concurrently.ts';
import {
  added,
  type DeletedCounts,
  type Erasure,
  type ErasurePosition,
  NOTHING_GONE,
  type RunPosition,
} from '../../../core/retention/erasure.ts';
import { messageOf } from '../../../core/thrown.ts';
import { changeMailbox } from '../../../engine/mailbox/change.ts';
import type { TenantDocuments } from '../../../ports/runs/erasure-store.ts';
import type { Cleared, RetentionStore } from '../../../ports/runs/retention-store.ts';
import { wrapSomeCalls } from '../../../ports/wrap-calls.ts';
import { type Done, deleteLineage } from '../delete-lineage.ts';
import type { ErasingDeps } from '../deps.ts';
import { type InspectedLineage, inspectLineage } from '../inspect-lineage.ts';
import { CONCURRENCY, PAGE, type TickBudget } from '../tick-budget.ts';

type Count = { -readonly [K in keyof DeletedCounts]: number };

/** Returns the erasure after the pass. @throws errors of the store; earlier deletions of the pass remain */
export async function erasurePass(deps: ErasingDeps, erasure: Erasure, budget: TickBudget): Promise<Erasure> {
  const deleted: Count = { ...NOTHING_GONE };
  const own = { ...deps, retention: counting(deps.retention, deleted), retentionOf: () => 0 };
  const after =
    erasure.scope === 'tenant'
      ? await passTenant(own, { erasure, budget, gone: deleted })
      : await passLineages(own, { erasure, budget, gone: deleted });
  return { ...erasure, ...after, gone: added(erasure.gone, deleted) };
}

interface PassContext {
  readonly erasure: Erasure;
  readonly budget: TickBudget;
  readonly gone: Count;
}

type PassResult = Pick<Erasure, 'roots' | 'state' | 'keptBy' | 'finishedAt' | 'tenantId' | 'position'>;

async function passLineages(deps: ErasingDeps, passing: PassContext): Promise<PassResult> {
  const { roots: all, keptBy: before } = passing.erasure;
  const { kept, begun, notVisited, keptBy } = await eraseLineages(deps, passing, all);
  const roots = [...begun, ...notVisited, ...kept];
  if (roots.length > 0)
    return { roots, state: 'open', keptBy: keptBy ?? (notVisited.length > 0 ? before : undefined) };
  return { roots, state: 'done', keptBy: undefined, finishedAt: deps.clock.now() };
}

/**
 * Excludes runs started after the request, and other newer documents, because these runs need their mailboxes and records.
 * If the budget ends among the runs, the next pass continues there. The erasure is done only when a pass from the newest run leaves nothing.
 */
async function passTenant(deps: ErasingDeps, passing: PassContext): Promise<PassResult> {
  const { erasure } = passing;
  const { tenantId } = erasure;
  if (tenantId === undefined) throw new Error(`erasure ${erasure.id} names no tenant`);
  const open = { roots: [], state: 'open' as const, tenantId };
  const { run, mayRemain, keptBy } = await passRuns(deps, passing, tenantId);
  const position: Position = { ...erasure.position, run };
  if (run || mayRemain) return { ...open, position, keptBy };
  const older: TenantDocuments = { tenantId, until: erasure.requestedAt };
  const kinds = [
    ['effects', (limit: number) => deps.erasures.deleteExternalEffects(older, limit)],
    ['schedules', (limit: number) => deps.erasures.deleteSchedules(older, limit)],
    ['records', recordPieces(deps, older, position)],
    ['waits', mailboxPieces(deps, older, position)],
  ] as const;
  for (const [kind, piece] of kinds)
    if (!(await clear(passing, kind, piece))) return { ...open, position, keptBy: undefined };
  if (position.mustRepeat) return { ...open, position: undefined, keptBy: undefined };
  const nothing = { tenantId: undefined, position: undefined, keptBy: undefined };
  return { roots: [], state: 'done', ...nothing, finishedAt: deps.clock.now() };
}

interface RunsPassed {
  /** Position of the next pass; undefined: it begins with the newest run. */
  readonly run: RunPosition | undefined;
  /** True if there may be more runs. */
  readonly mayRemain: boolean;
  readonly keptBy: Erasure['keptBy'];
}

async function passRuns(deps: ErasingDeps, passing: PassContext, tenantId: string): Promise<RunsPassed> {
  const { erasure, budget } = passing;
  const from = erasure.position?.run;
  const seen = new Set<string>();
  let keptBy: Erasure['keptBy'];
  let mayRemain = from !== undefined;
  for (let after = from; ; ) {
    const page = await deps.erasures.runsOf({ tenantId, until: erasure.requestedAt, after, limit: PAGE });
    const unseen = page.filter(({ rootRunId }) => !seen.has(rootRunId));
    // Runs of visited lineages cost a read as well.
    budget.inspected(page.length - unseen.length);
    const roots = new Set(unseen.map(({ rootRunId }) => rootRunId));
    const { kept, begun, notVisited, ...walked } = await eraseLineages(deps, passing, [...roots]);
    for (const root of roots) seen.add(root);
    keptBy ??= walked.keptBy;
    mayRemain ||= kept.length + begun.length + notVisited.length > 0;
    if (budget.isSpent) {
      const again = new Set([...begun, ...notVisited]);
      const first = page.findIndex(({ rootRunId }) => again.has(rootRunId));
      const run = first < 0 ? page.at(-1) : first > 0 ? page[first - 1] : after;
      const isEnd = first < 0 && page.length < PAGE;
      const position = run && { runId: run.runId, createdAt: run.createdAt };
      if (!isEnd) return { run: position, mayRemain: true, keptBy: keptBy ?? erasure.keptBy };
    }
    if (page.length < PAGE) return { run: undefined, mayRemain, keptBy: keptBy ?? (from && erasure.keptBy) };
    after = page.at(-1);
  }
}

type Piece = (limit: number) => Promise<Cleared>;

/** Mutable: the pass advances it. */
type Position = { -readonly [K in keyof ErasurePosition]: ErasurePosition[K] };

/** Each piece continues after the previous one, because newer records remain. */
function recordPieces({ erasures }: ErasingDeps, older: TenantDocuments, position: Position): Piece {
  return async (limit) => {
    const part = await erasures.deleteRecords({ ...older, after: position.record }, limit);
    position.record = part.lastKey ?? position.record;
    // Newer records cost a read too.
    return { ...part, spent: part.more ? limit : part.deleted };
  };
}

/**
 * Mailboxes are changed one by one, because runs and senders may change them at the same time.
 * One that cannot be changed now does not stop the others.
 */
function mailboxPieces(deps: ErasingDeps, { tenantId, until }: TenantDocuments, position: Position): Piece {
  return async (limit) => {
    const page = await deps.erasures.mailboxesOf(tenantId, position.mailbox, limit);
    const last = page.at(-1);
    if (last) position.mailbox = mailboxId(last);
    let deleted = 0;
    await workThroughAll(page, CONCURRENCY, async (address) => {
      try {
        if (await changeMailbox(deps, address, (seen) => erasedUntil(seen, until))) deleted += 1;
      } catch (error) {
        deps.log.warn('erasure_mailbox_kept', { tenantId, mailbox: mailboxId(address), error });
        position.mustRepeat = true;
      }
    });
    return { deleted, spent: page.length, more: page.length === limit };
  };
}

/** Lineages that still exist. */
interface LineagesLeft {
  readonly kept: readonly string[];
  /** Lineages whose deletion has begun. */
  readonly begun: readonly string[];
  /** Lineages beyond the budget. */
  readonly notVisited: readonly string[];
  readonly keptBy: Erasure['keptBy'];
}

/** Begins the deletions in this order until the budget is spent, several concurrently. A lineage that cannot be read does not stop the others. */
async function eraseLineages(
  deps: ErasingDeps,
  passing: PassContext,
  roots: readonly string[],
): Promise<LineagesLeft> {
  const { budget, erasure } = passing;
  const kept: string[] = [];
  const begun: string[] = [];
  let keptBy: Erasure['keptBy'];
  const notVisited = [...roots];
  const next = () => (budget.isSpent ? undefined : notVisited.shift());
  await workThrough(next, CONCURRENCY, async (root) => {
    try {
      const { done, lineage } = await eraseLineage(deps, passing, root);
      keptBy ??= reasonOf(lineage);
      if (done === 'unfinished') begun.push(root);
      else if (done !== 'deleted' && done !== 'gone') kept.push(root);
    } catch (error) {
      kept.push(root);
      budget.inspected(1);
      deps.log.error('retention_failed', { rootRunId: root, erasureId: erasure.id, error: messageOf(error) });
    }
  });
  return { kept, begun, notVisited, keptBy };
}

interface Erased {
  readonly done: Done;
  readonly lineage: InspectedLineage;
}

async function eraseLineage(deps: ErasingDeps, passing: PassContext, rootRunId: string): Promise<Erased> {
  const { budget, gone: deleted } = passing;
  const lineage = await inspectLineage(deps, rootRunId);
  budget.inspected(Math.max(1, lineage.members.length));
  // This precedes the run documents, because the records are found by them.
  if (lineage.decision.kind === 'delete')
    for (const { runId } of lineage.members)
      if (!(await clear(passing, 'records', (limit) => deps.erasures.deleteRecordsOfRun(runId, limit))))
        return { done: 'unfinished', lineage };
  const done = await deleteLineage(deps, { rootRunId, lineage, budget });
  if (done === 'marked')
    for (const { runId } of lineage.members)
      deleted.published += (await deps.store.load(runId))?.metadata.publishedSeq ?? 0;
  return { done, lineage };
}

function clear({ budget, gone }: PassContext, kind: keyof DeletedCounts, piece: Piece): Promise<boolean> {
  return budget.clear(piece, (deleted) => {
    gone[kind] += deleted;
  });
}

function reasonOf({ decision }: InspectedLineage): Erasure['keptBy'] {
  if (decision.kind !== 'keep') return undefined;
  const { why, runId } = decision.reason;
  return { why, runId };
}

/** Counts deletions by kind. A parent that has ended is deleted too, because otherwise the request would have been refused. */
function counting(retention: RetentionStore, gone: Count): RetentionStore {
  const counted = async (kind: 'documents' | 'effects', clearing: Promise<Cleared>): Promise<Cleared> => {
    const cleared = await clearing;
    gone[kind] += cleared.deleted;
    return cleared;
  };
  return wrapSomeCalls(retention, {
    present: async (call, runIds) => new Map([...(await call(runIds))].filter(([, { isOver }]) => !isOver)),
    deleteUnder: (call, runId, limit) => counted('documents', call(runId, limit)),
    deleteEffects: (call, runId, limit) => counted('effects', call(runId, limit)),
    async deleteRun(call, runId, seen) {
      const written = await call(runId, seen);
      if (written.kind === 'written') gone.runs += 1;
      return written;
    },
  });
}
