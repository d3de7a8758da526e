/** Reason and help for a run that needs only a dispatch. */
import { type BlockedRun, blockedOn } from '../../core/decisions/blocked.ts';
import { iso } from '../../core/run/readable.ts';
import type { RunState } from '../../core/run/state.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { planStanding } from '../../engine/definition-of-run.ts';
import type { ListedRun } from '../../ports/run-store.ts';
import type { View } from './run.ts';

/**
 * Marks a run in a list as blocked, with the start time. Uses only its first waits, because a list reads no others.
 *
 * @param now epoch ms
 */
export function listedBlocked(
  registry: WorkflowRegistry,
  { state, waits }: Pick<ListedRun, 'state' | 'waits'>,
  now: number,
): View {
  const blocked = blockedOn({ ...state, waits: waits.first }, planStanding(registry, state), now);
  return { blocked: blocked && { code: blocked.code, since: iso(blocked.since) } };
}

export function blockedView(
  { code, since, checkMs }: BlockedRun,
  { id, type, planVersion, cancellation }: Pick<RunState, 'id' | 'type' | 'planVersion' | 'cancellation'>,
): View {
  const plan = `version ${planVersion} of '${type}'`;
  const within = checkMs === MINUTE_MS ? 'a minute' : `${checkMs / MINUTE_MS} minutes`;
  const words = WORDS[code](plan, within);
  return {
    code,
    since: iso(since),
    ...(cancellation && code !== 'DISPATCH_DUE' ? beforeCompensation(words, id) : words),
  };
}

/** A cancelled run stays blocked because completed steps have compensations. */
function beforeCompensation({ message, help }: BlockedWords, runId: string): BlockedWords {
  return {
    message: `${message} The run was cancelled, and that version must run the compensations of its completed steps first.`,
    help: `${help} To end the run without them: cairn runs cancel ${runId} --without-undo`,
  };
}

const MINUTE_MS = 60_000;

interface BlockedWords {
  readonly message: string;
  readonly help: string;
}

const WORDS: Readonly<Record<BlockedRun['code'], (plan: string, within: string) => BlockedWords>> = {
  PLAN_VERSION_UNAVAILABLE: (plan, within) => ({
    message: `The run is blocked: ${plan} is not deployed.`,
    help: `Deploy that version again. The run continues within ${within}, or immediately if you resume it.`,
  }),
  PLAN_CHANGED: (plan, within) => ({
    message: `The run is blocked: the deployed definition of ${plan} differs from the one the run started on.`,
    help: `Deploy that version with its original definition. The run continues within ${within}, or immediately if you resume it.`,
  }),
  DISPATCH_DUE: (plan, within) => ({
    message: `The run is ready: ${plan} is deployed. The run continues within ${within}, unless the workflow is paused.`,
    help: 'Resume the run to continue immediately.',
  }),
};
