/** Why a run stands that needs nobody but a dispatch, in words, and what to do about it. */
import { type Blocked, blockedOn } from '../../core/decisions/blocked.ts';
import { optional } from '../../core/optional.ts';
import type { RunState } from '../../core/run/state.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { planStanding } from '../../engine/deployed.ts';
import type { ListedRun } from '../../ports/run-store.ts';
import type { View } from './run.ts';
import { iso } from './values.ts';

/**
 * Says that a run in a list is blocked, and since when. Judged by its first waits, which are all that a list reads.
 *
 * @param now epoch ms
 */
export function listedBlocked(
  registry: WorkflowRegistry,
  { state, waits }: Pick<ListedRun, 'state' | 'waits'>,
  now: number,
): View {
  const blocked = blockedOn({ ...state, waits: waits.first }, planStanding(registry, state), now);
  return optional('blocked', blocked && { code: blocked.code, since: iso(blocked.since) });
}

export function blockedView(
  { code, since, lookMs }: Blocked,
  { id, type, planVersion, cancellation }: Pick<RunState, 'id' | 'type' | 'planVersion' | 'cancellation'>,
): View {
  const plan = `version ${planVersion} of '${type}'`;
  const within = lookMs === MINUTE_MS ? 'a minute' : `${lookMs / MINUTE_MS} minutes`;
  const words = WORDS[code](plan, within);
  return {
    code,
    since: iso(since),
    ...(cancellation && code !== 'DISPATCH_DUE' ? toBeUndone(words, id) : words),
  };
}

/** It was cancelled, and stands because steps that it completed have compensations. */
function toBeUndone({ message, help }: Words, runId: string): Words {
  return {
    message: `${message} It was cancelled, and what its completed steps did is to be undone by that version first.`,
    help: `${help} To end it without undoing them: cairn runs cancel ${runId} --without-undo`,
  };
}

const MINUTE_MS = 60_000;

interface Words {
  readonly message: string;
  readonly help: string;
}

const WORDS: Readonly<Record<Blocked['code'], (plan: string, within: string) => Words>> = {
  PLAN_VERSION_UNAVAILABLE: (plan, within) => ({
    message: `The run cannot go on: ${plan} is not deployed.`,
    help: `Deploy that version again. The run goes on within ${within} after that, or at once when it is resumed.`,
  }),
  PLAN_CHANGED: (plan, within) => ({
    message: `The run cannot go on: ${plan} is deployed with another definition than the run was started on.`,
    help: `Deploy that version as it was. The run goes on within ${within} after that, or at once when it is resumed.`,
  }),
  DISPATCH_DUE: (plan, within) => ({
    message: `Nothing is missing: ${plan} is deployed. The run goes on within ${within}, unless it is paused.`,
    help: 'Resume it to have it go on at once.',
  }),
};
