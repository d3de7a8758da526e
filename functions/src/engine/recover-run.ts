/** Carries out section 9 for one run whose drive died. Used by the scan, and by a drive that finds such a run itself. */
import { claimVerdict } from '../core/decisions/claim.ts';
import { recoveryVerdict } from '../core/decisions/recovery.ts';
import type { EventDraft } from '../core/run/events.ts';
import type { RunState } from '../core/run/state.ts';
import { PARKED_MS } from '../core/run/wake.ts';
import { RunJournal } from '../journal/run-journal.ts';
import type { LoadedRun } from '../ports/run-store.ts';
import { deployedFor } from './deployed.ts';
import type { EngineDeps } from './deps.ts';
import { runCancelled } from './drive/drafts.ts';

export type Recovered =
  /** It may be driven now. */
  | { readonly kind: 'resumed' }
  | { readonly kind: 'parked' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'cancelled' }
  /** It was not, or is no longer, in need of recovery. */
  | { readonly kind: 'moved_on' };

/**
 * Two commits: the first says that the run was interrupted, the second what becomes of it. A crash between them
 * leaves an interrupted run, which the next scan finds. Safe with any number of scanners and drives at once.
 */
export async function recoverRun(deps: EngineDeps, loaded: LoadedRun): Promise<Recovered> {
  const { clock, settings, log } = deps;
  const journal = new RunJournal(deps, loaded, { ...settings });
  const verdict = claimVerdict({ ...loaded, leaseMs: settings.leaseMs });
  if (verdict.kind === 'orphaned') {
    const { lastHeartbeatAt } = verdict;
    const { events } = await journal.append((state) => orphanDrafts(state, loaded.state, lastHeartbeatAt));
    if (events.length > 0)
      log.warn('orphan_detected', { runId: loaded.state.id, lastHeartbeat: lastHeartbeatAt });
  }
  const { state, events } = await journal.append((current) => recoveryDrafts(deps, current, clock.now()));
  const [event] = events;
  if (!event) return { kind: 'moved_on' };
  log.info('run_recovered', { runId: state.id, verdict: event.type, resumeCount: state.resumeCount });
  if (event.type === 'run_failed') return { kind: 'failed' };
  if (event.type === 'run_cancelled') return { kind: 'cancelled' };
  return event.type === 'run_resumed' ? { kind: 'resumed' } : { kind: 'parked' };
}

/** Whoever appended since the run was read is alive, or has recovered it already. */
function orphanDrafts(state: RunState, seen: RunState, lastHeartbeatAt: number): EventDraft[] {
  if (state.head !== seen.head || !state.lease) return [];
  const { owner, epoch } = state.lease;
  return [{ type: 'orphan_detected', initiator: 'timeout', data: { owner, epoch, lastHeartbeatAt } }];
}

function recoveryDrafts(deps: EngineDeps, state: RunState, now: number): EventDraft[] {
  if (state.status !== 'interrupted') return [];
  const verdict = recoveryVerdict(state, deployedFor(deps.registry, state));
  switch (verdict.kind) {
    case 'fail':
      return [{ type: 'run_failed', initiator: 'system', data: { error: verdict.error } }];
    case 'park': {
      const { status, reason } = verdict;
      return [
        { type: 'run_suspended', initiator: 'system', data: { status, reason, until: now + PARKED_MS } },
      ];
    }
    case 'cancel':
      return [runCancelled(state)];
    case 'resume':
      return [
        {
          type: 'run_resumed',
          initiator: 'system',
          data: { reason: 'orphan recovered from its last checkpoint' },
        },
      ];
  }
}
