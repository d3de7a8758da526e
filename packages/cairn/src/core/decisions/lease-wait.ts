/** Explains why a run whose worker may have died waits for the end of its lease, although the queue redelivers its task earlier. Pure. */
import type { RunState } from '../run/state.ts';
import { effectsToAwait, toleratesRedelivery } from './claim.ts';
import type { DeployedPlan } from './deployed-plan.ts';
import { stepsInDoubt } from './ending-facts.ts';

export interface LeaseWait {
  /** Keys of the steps that must not run twice concurrently; empty: no step is the reason. */
  readonly steps: readonly string[];
  /** The reason, as the second half of a sentence. */
  readonly why: string;
}

/** Further names are not listed. */
const MAX_NAMED = 3;

/**
 * Undefined if no worker holds the run, or if the next delivery takes it over immediately after a death (`toleratesRedelivery`).
 */
export function leaseWaitOf(state: RunState, deployed: DeployedPlan): LeaseWait | undefined {
  if (!state.lease || toleratesRedelivery(state, deployed)) return undefined;
  if (!deployed.available) return { steps: [], why: 'its plan is not deployed' };
  if (state.compensating) return { steps: [], why: 'its compensations are running' };
  const acting = [...new Set(effectsToAwait(state, deployed).map(({ step }) => step))];
  const inDoubt = stepsInDoubt(state, deployed);
  if (inDoubt.length > 0) return { steps: inDoubt, why: `${named(inDoubt)} must not run twice` };
  return { steps: acting, why: `an effect of ${named(acting)} is in progress` };
}

function named(steps: readonly string[]): string {
  const more = steps.length - MAX_NAMED;
  const names = steps.slice(0, MAX_NAMED).map((step) => `'${step}'`);
  return `step${steps.length === 1 ? '' : 's'} ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
