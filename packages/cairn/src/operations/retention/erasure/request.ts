/**
 * Requests the erasure of a run, with its lineage and children, or of a tenant. If it is not allowed, it is refused before anything is
 * written. An accepted erasure immediately hides as many runs as the time of a request allows; the next ticks hide the others and
 * delete all.
 */
import { CairnError } from '../../../core/errors.ts';
import {
  type Erasure,
  erasureId,
  isErasureId,
  NOTHING_GONE,
  requesterKept,
  tenantHash,
} from '../../../core/retention/erasure.ts';
import type { KeptReason } from '../../../core/retention/lineage.ts';
import type { JournalDeps } from '../../../journal/run-journal.ts';
import { type SendDeps, sendUntilKnown } from '../../../journal/send-until-known.ts';
import type { Page, PageRequest } from '../../../ports/run-store.ts';
import type { StoredErasure } from '../../../ports/runs/erasure-store.ts';
import { loadOwn, type RunOfTenant } from '../../append-to-run.ts';
import type { ErasingDeps } from '../deps.ts';
import { inspectLineage } from '../inspect-lineage.ts';
import { MAX_MEMBERS, type TickBounds, TickBudget } from '../tick-budget.ts';
import { erasurePass } from './erasure-pass.ts';

/** Most lineages of one erasure, including those of children. Their ids are in one document. */
const MAX_ROOTS = 500;
/** Events read at once in search of children. */
const EVENTS_A_PAGE = 500;
/** Limits of the work during the request. It marks the runs; ticks do the rest. */
const AT_ONCE: TickBounds = { documents: 500, runs: MAX_MEMBERS, owners: 0, forMs: 10_000 };

export type EraseDeps = ErasingDeps & SendDeps & JournalDeps;

interface RunToErase extends RunOfTenant {
  readonly actor: string;
}

/**
 * The erasure, even if it was requested before.
 *
 * @throws CairnError RUN_NOT_FOUND; RUN_INVALID_TRANSITION with the reason why the run is kept; UNAVAILABLE (send the same again)
 */
export async function eraseRun(deps: EraseDeps, { runId, tenantId, actor }: RunToErase): Promise<Erasure> {
  const id = erasureId(tenantId, runId);
  const known = await sendUntilKnown(deps, () => deps.erasures.read(id));
  if (known) return known.erasure;
  const { state } = await loadOwn(deps, { runId, tenantId });
  const roots = await erasable(deps, state.rootRunId);
  return begin(deps, { id, scope: 'lineage', tenantHash: tenantHash(tenantId), roots }, actor);
}

/** Runs before anything is recorded. @throws CairnError RUN_NOT_FOUND, UNAVAILABLE */
export async function assertErasable(
  deps: EraseDeps,
  { runId, tenantId }: Pick<RunToErase, 'runId' | 'tenantId'>,
): Promise<void> {
  const known = await sendUntilKnown(deps, () => deps.erasures.read(erasureId(tenantId, runId)));
  if (!known) await loadOwn(deps, { runId, tenantId });
}

interface TenantToErase {
  /** Tenant whose runs, schedules, records and events are erased. */
  readonly erased: string;
  readonly actor: string;
}

/** Like {@link eraseRun}. A tenant without data is erased immediately. @throws CairnError UNAVAILABLE */
export async function eraseTenant(deps: EraseDeps, { erased, actor }: TenantToErase): Promise<Erasure> {
  const id = erasureId(erased);
  const known = await sendUntilKnown(deps, () => deps.erasures.read(id));
  if (known?.erasure.state === 'open') return known.erasure;
  const wanted = {
    id,
    scope: 'tenant' as const,
    tenantHash: tenantHash(erased),
    tenantId: erased,
    roots: [],
  };
  return begin(deps, wanted, actor, known);
}

/** @throws CairnError NOT_FOUND, UNAVAILABLE */
export async function readErasure(
  deps: Pick<EraseDeps, 'erasures' | keyof SendDeps>,
  id: string,
  /** Absent: an erasure of any tenant. */
  tenantId?: string,
): Promise<Erasure> {
  const found = isErasureId(id) ? await sendUntilKnown(deps, () => deps.erasures.read(id)) : undefined;
  const isOwn = tenantId === undefined || found?.erasure.tenantHash === tenantHash(tenantId);
  if (found && isOwn) return found.erasure;
  throw new CairnError('NOT_FOUND', 'no erasure with this id', { field: 'id' });
}

/** Newest first. Without `tenantId`: those of all tenants. @throws CairnError INVALID_INPUT for the cursor, UNAVAILABLE */
export function listErasures(
  deps: Pick<EraseDeps, 'erasures' | keyof SendDeps>,
  tenantId: string | undefined,
  page: PageRequest,
): Promise<Page<Erasure>> {
  const hash = tenantId === undefined ? undefined : tenantHash(tenantId);
  return sendUntilKnown(deps, () => deps.erasures.list(hash, page));
}

async function begin(
  deps: EraseDeps,
  wanted: Pick<Erasure, 'id' | 'scope' | 'tenantHash' | 'tenantId' | 'roots'>,
  actor: string,
  before?: StoredErasure,
): Promise<Erasure> {
  const { erasures, clock, log } = deps;
  const erasure: Erasure = {
    ...wanted,
    state: 'open',
    gone: NOTHING_GONE,
    requestedAt: clock.now(),
    requestedBy: requesterKept(actor),
  };
  // A finished erasure begins again, because new runs may have started since.
  if (before) await sendUntilKnown(deps, () => erasures.write(erasure, before.version));
  else await sendUntilKnown(deps, () => erasures.create(erasure));
  log.warn('erasure_requested', { erasureId: erasure.id, scope: erasure.scope, by: actor });
  const stored = await sendUntilKnown(deps, () => erasures.read(erasure.id));
  if (!stored) throw new Error(`erasure ${erasure.id} no longer exists`);
  try {
    const passed = await erasurePass(deps, stored.erasure, new TickBudget(AT_ONCE, clock));
    // Documents written around the time of the request may appear after this pass looked, so records and mailboxes are visited
    // again. Runs need no reset, because an erasure is done only after a pass from the newest run.
    const { run } = passed.position ?? {};
    const after = { ...passed, position: run && { run } };
    await erasures.write(after, stored.version);
    return after;
  } catch (error) {
    // The erasure is stored, and the next tick continues it.
    log.warn('erasure_left_to_tick', { erasureId: erasure.id, error });
    return stored.erasure;
  }
}

/** Lineages to erase: that of the run, and those of the children of its runs, parents first. @throws CairnError with the reason why one is kept */
async function erasable(deps: EraseDeps, rootRunId: string): Promise<string[]> {
  const roots: string[] = [];
  const known = new Set([rootRunId]);
  for (const root of known) {
    const { members, decision } = await sendUntilKnown(deps, () =>
      inspectLineage({ ...deps, retentionOf: () => 0 }, root),
    );
    if (decision.kind === 'keep' && !(roots.length > 0 && decision.reason.why === 'parent'))
      throw keptBy(decision.reason);
    roots.push(root);
    for (const { runId } of members)
      for (const childRoot of await rootsOfChildren(deps, runId)) known.add(childRoot);
    if (known.size > MAX_ROOTS) throw keptBy({ why: 'too_many', runId: rootRunId });
  }
  return roots;
}

/** Read from the journal, because a run document names only the children that have not reported. */
async function rootsOfChildren(deps: EraseDeps, runId: string): Promise<Set<string>> {
  const roots = new Set<string>();
  for (let seq = 0; ; ) {
    const page = await sendUntilKnown(deps, () => deps.store.readEvents(runId, seq, EVENTS_A_PAGE));
    for (const { type, data } of page) {
      const child = type === 'wait_opened' ? data.wait.child : undefined;
      const loaded = child && (await sendUntilKnown(deps, () => deps.store.load(child.runId)));
      if (loaded) roots.add(loaded.state.rootRunId);
    }
    const last = page.at(-1);
    if (!last || page.length < EVENTS_A_PAGE) return roots;
    seq = last.seq;
  }
}

const HELP: Readonly<Record<KeptReason['why'], string>> = {
  live: 'Cancel the run, and repeat the request when it has ended.',
  owes: 'Repeat the request in a few minutes: the end of the run is still being announced.',
  held: 'Release the legal hold first (cairn runs release).',
  not_due: 'Ask again.',
  parent: 'Erase the parent, which includes its children.',
  child: 'Cancel the child, and repeat the request when it has ended.',
  too_many: 'Erase the tenant.',
};

function keptBy(reason: KeptReason): CairnError {
  const { why, runId } = reason;
  const related =
    reason.why === 'parent' ? reason.parentRunId : reason.why === 'child' ? reason.childRunId : undefined;
  const message = `the run cannot be erased now: ${runId} keeps its lineage (${why})`;
  const details = { why, runId, relatedRunId: related };
  return new CairnError('RUN_INVALID_TRANSITION', message, { help: HELP[why], details });
}
