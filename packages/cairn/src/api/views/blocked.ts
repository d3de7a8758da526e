/** Why a run stands that needs nobody but a dispatch, in words, and what to do about it. */
import type { Blocked } from '../../core/decisions/blocked.ts';
import type { RunState } from '../../core/run/state.ts';
import type { View } from './run.ts';
import { iso } from './values.ts';

export function blockedView(
  { code, since, lookMs }: Blocked,
  { type, planVersion }: Pick<RunState, 'type' | 'planVersion'>,
): View {
  const plan = `version ${planVersion} of '${type}'`;
  const within = lookMs === MINUTE_MS ? 'a minute' : `${lookMs / MINUTE_MS} minutes`;
  return { code, since: iso(since), ...WORDS[code](plan, within) };
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
