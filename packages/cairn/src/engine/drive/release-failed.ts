/**
 * Releases a run whose dispatch threw in a live process: the run continues after an increasing back-off. That is not a
 * death and does not count against the run.
 */
import { toleratesOverlap } from '../../core/decisions/claim.ts';
import { releaseError } from '../../core/decisions/compensation.ts';
import { type Backoff, backoffBoundMs, DEFAULT_RETRY } from '../../core/decisions/retry.ts';
import { CairnError, type ErrorCode } from '../../core/errors.ts';
import type { EventDraft } from '../../core/run/events.ts';
import { cut, SUMMARY_CHARS } from '../../core/run/records.ts';
import { type RunState, refsInFlight } from '../../core/run/state.ts';
import { LONGEST_CHECK_MS } from '../../core/run/wake.ts';
import { messageOf } from '../../core/thrown.ts';
import { RunJournal } from '../../journal/run-journal.ts';
import { OutcomeUnknown, StoreRefused } from '../../ports/store-errors.ts';
import { deployedFor, isPlanMissing } from '../definition-of-run.ts';
import type { EngineDeps } from '../deps.ts';

const BACK_OFF: Backoff = DEFAULT_RETRY;
/** Back-off of a run that needs a deployment, which may be days away. Each attempt costs a claim and a release. */
const BACK_OFF_TO_DEPLOYMENT: Backoff = { ...BACK_OFF, capMs: LONGEST_CHECK_MS };

/** `dueAt`: epoch ms. */
export interface ReleasedFailed {
  readonly state: RunState;
  readonly dueAt: number;
}

/**
 * Returns undefined if this owner does not hold the run. The journal of the failed dispatch may be unusable, so this code uses
 * another writer. Sequence numbers fence the pending appends of the first.
 *
 * @throws errors of the store: then the lease is left to the redelivery of the task, or expires
 */
export async function releaseFailed(
  deps: EngineDeps,
  { runId, owner, error }: { readonly runId: string; readonly owner: string; readonly error: unknown },
): Promise<ReleasedFailed | undefined> {
  const loaded = await deps.store.load(runId);
  if (loaded?.state.lease?.owner !== owner) return undefined;
  const journal = new RunJournal(deps, loaded, { ...deps.settings, owner });
  const { state, events } = await journal.append((current) =>
    current.lease?.owner === owner ? [released(deps, current, error)] : [],
  );
  const [event] = events;
  if (event?.type !== 'run_released' || event.data.dueAt === undefined) return undefined;
  return { state, dueAt: event.data.dueAt };
}

/**
 * Bodies of the failed dispatch may still be running in this process. If an overlap would do harm, the run waits as after a
 * death.
 */
function released(
  { clock, random, settings, registry }: EngineDeps,
  state: RunState,
  error: unknown,
): EventDraft {
  const forDeployment = error instanceof CairnError && isPlanMissing(error);
  const backOff = forDeployment ? BACK_OFF_TO_DEPLOYMENT : BACK_OFF;
  const bound = backoffBoundMs(backOff, (state.failures?.times ?? 0) + 1);
  const rest = toleratesOverlap(state, deployedFor(registry, state)) ? 0 : settings.leaseMs;
  const dueAt = clock.now() + Math.max(rest, Math.ceil(random.unit() * bound));
  const recorded = { code: codeOf(error), message: cut(messageOf(error), SUMMARY_CHARS), retryable: true };
  return {
    type: 'run_released',
    initiator: 'system',
    data: { reason: 'error', inFlight: refsInFlight(state), dueAt, error: releaseError(state, recorded) },
  };
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof CairnError) return error.code;
  if (error instanceof StoreRefused) return 'RUN_UNWRITABLE';
  return error instanceof OutcomeUnknown ? 'UNAVAILABLE' : 'INTERNAL';
}
