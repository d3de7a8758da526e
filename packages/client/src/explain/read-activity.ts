/** Reads the active steps of a run, with data about retries that only the journal has. */
import type { Answer } from 'cairn/api/calls';
import type { CairnClient } from '../client.ts';
import type { RunEventView } from '../follow.ts';
import { eventAt } from './event-at.ts';
import { type Activity, activityOf, type Deferral } from './explain-run.ts';
import { needsDecision } from './moves.ts';

/** Maximum of steps whose event is read; each costs a request. */
const MAX_READ = 3;

type ActiveRun = Pick<Answer<'Run'>, 'id' | 'status' | 'running' | 'waits' | 'steps' | 'currentStep'>;

/**
 * Costs a request for a run that waits for a decision or only retries steps, and one for each of the first {@link MAX_READ}
 * retried steps.
 */
export async function readActivity(client: CairnClient, run: ActiveRun): Promise<Activity> {
  const known = activityOf(run);
  const { id, status, steps } = run;
  const isWaiting = status === 'awaiting_approval' || status === 'waiting_external';
  if (isWaiting && run.waits.some(needsDecision))
    return { ...known, isUndecidable: await readUndecidable(client, run) };
  const mayRetry = (status === 'running' || status === 'replaying') && known.working.length === 0;
  if (!mayRetry || steps.retrying === 0) return known;
  const graph = await client.get('/v1/runs/{id}/graph', { params: { id } });
  const waitingSteps = graph.steps.flatMap((step) =>
    step.phase === 'retrying' && !step.whenRoom ? [{ key: step.key, seq: step.seq }] : [],
  );
  const retrying: Activity['retrying'][number][] = [];
  for (const { key, seq } of waitingSteps.slice(0, MAX_READ)) {
    const event = await eventAt(client, id, seq);
    retrying.push({ key, isPolling: event?.data.polled === true, deferral: event && deferralOf(event) });
  }
  return retrying.length === 0 ? known : { ...known, retrying };
}

/**
 * True if decisions are refused because the version of the run is not deployed. Costs a request if the run waits for a decision.
 */
export async function readUndecidable(
  client: CairnClient,
  { id, waits }: Pick<Answer<'Run'>, 'id' | 'waits'>,
): Promise<boolean> {
  if (!waits.some(needsDecision)) return false;
  const { nodes } = await client.get('/v1/runs/{id}/graph', { params: { id } });
  return nodes === undefined;
}

/** Undefined if no budget defers the step. @param event of type `step_retry_scheduled` */
function deferralOf({ at, data: { budget, error, retryAt } }: RunEventView): Deferral | undefined {
  if (budget !== true) return undefined;
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return {
    reason: typeof message === 'string' ? message : 'a budget is reached',
    isOver: typeof retryAt !== 'string' || Date.parse(retryAt) <= Date.parse(at),
  };
}
