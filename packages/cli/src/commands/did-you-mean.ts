/** Suggests the nearest name for a mistyped workflow, schedule or step of a run. */
import { type CairnClient, Refusal } from '@cairn/client';
import { closest } from '../arguments/closest.ts';
import { Declined, EXIT } from '../exit.ts';

const SCHEDULES = 1_000;
/** A hint names at most this many. */
const MAX_NAMED = 12;

/** Undefined if the workflow is deployed or has runs, or no known name is near. */
export async function nearType(api: CairnClient, type: string): Promise<string | undefined> {
  const { items } = await api.get('/v1/workflows', {});
  const known = items.map((workflow) => workflow.type);
  return known.includes(type) ? undefined : closest(type, known);
}

/**
 * Waits for a request about a workflow that a person has named.
 *
 * @throws Refusal with the near match as its help, if there is no such workflow
 */
export function aboutType<T>(api: CairnClient, type: string, request: Promise<T>): Promise<T> {
  return request.catch(async (error: unknown) => {
    throw isMissing(error) ? meaning(error, await nearType(api, type)) : error;
  });
}

/**
 * Waits for a request about a schedule that a person has named.
 *
 * @throws Refusal with the near match as its help, if there is no such schedule
 */
export function aboutSchedule<T>(api: CairnClient, id: string, request: Promise<T>): Promise<T> {
  return request.catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    const { items } = await api.list('/v1/schedules', { limit: SCHEDULES });
    throw meaning(
      error,
      closest(
        id,
        items.map((schedule) => schedule.id),
      ),
    );
  });
}

/**
 * Refuses a step that is not in the plan of the run. If the plan is not deployed, every name is accepted.
 *
 * @param step with or without the key of an item: `step[key]`
 * @throws Declined with the near match, or with the steps if there are few
 */
export async function assertStep(api: CairnClient, runId: string, step: string): Promise<void> {
  const { nodes } = await api.get('/v1/runs/{id}/graph', { params: { id: runId } });
  const [name = ''] = step.split('[');
  const known = nodes?.map(({ id }) => id);
  if (!known || known.includes(name)) return;
  const near = closest(name, known);
  const list = known.length <= MAX_NAMED ? `Its steps: ${known.join(', ')}.` : `cairn runs steps ${runId}`;
  throw new Declined(
    `the run has no step '${name}'`,
    near === undefined ? list : `Did you mean '${near}'?`,
    EXIT.notFound,
  );
}

export function isMissing(error: unknown): error is Refusal {
  return error instanceof Refusal && error.problem.status === 404;
}

function meaning(error: Refusal, near: string | undefined): Refusal {
  return near === undefined
    ? error
    : new Refusal({ ...error.problem, help: `Did you mean '${near}'?` }, error.key);
}
