/** The file and line that asked for each open or failed operation of a run's flows. */
import type { Answer } from 'cairn/api/calls';
import type { CairnClient } from '../client.ts';
import { stepKey } from '../step-key.ts';
import { eventAt } from './event-at.ts';

export interface CodePlace {
  /** Key of the step, such as `flow[charge]`. */
  readonly step: string;
  readonly state: 'running' | 'waiting' | 'retrying' | 'failed';
  /** For example `src/orders.ts:12`. */
  readonly location: string;
}

/** Maximum of listed operations; a run can have thousands open. */
const MAX_PLACES = 10;
/** Maximum of operations whose event is read; each costs a request. */
const MAX_READ = 3;

/** Operations that the run document names: running bodies and open waits. */
export function placesOf({ running, waits }: Pick<Answer<'Run'>, 'running' | 'waits'>): CodePlace[] {
  return [
    ...running.map(({ step, location }) => ({ step, state: 'running' as const, location })),
    ...waits.map(({ execution }) => ({
      step: stepKey(execution),
      state: 'waiting' as const,
      location: execution.location,
    })),
  ]
    .flatMap(({ location, ...place }) => (location === undefined ? [] : [{ ...place, location }]))
    .slice(0, MAX_PLACES);
}

/** Adds operations that only the journal names: those between two attempts, and the last failed one of a failed flow. */
export async function readPlaces(
  client: CairnClient,
  run: Pick<Answer<'Run'>, 'id' | 'status' | 'running' | 'waits' | 'steps' | 'error'>,
): Promise<CodePlace[]> {
  const places = placesOf(run);
  const { id, status, steps, error } = run;
  const hasFailed = status === 'failed' && error?.stepId !== undefined;
  if (!hasFailed && steps.retrying === 0) return places;
  const graph = await client.get('/v1/runs/{id}/graph', { params: { id } });
  for (const { key, seq, state } of unnamed(graph, hasFailed ? error.stepId : undefined)) {
    const location = (await eventAt(client, id, seq))?.data.location;
    if (typeof location === 'string') places.push({ step: key, state, location });
  }
  return places;
}

/** @param failed the step that failed the run */
function unnamed({ steps }: Answer<'RunGraph'>, failed: string | undefined) {
  const operations = steps.filter(({ key }) => OPERATION.test(key));
  const retrying = operations.flatMap((step) =>
    step.phase === 'retrying' ? [{ key: step.key, seq: step.seq, state: 'retrying' as const }] : [],
  );
  const last = operations
    .filter(
      (step) => step.phase === 'done' && step.outcome === 'failed' && step.key.startsWith(`${failed ?? ''}[`),
    )
    .sort((a, b) => b.seq - a.seq)
    .slice(0, 1)
    .map(({ key, seq }) => ({ key, seq, state: 'failed' as const }));
  return [...last, ...retrying].slice(0, MAX_READ);
}

/** The items of a set are numbered, the operations of a flow named. */
const OPERATION = /\[[A-Za-z]/;
