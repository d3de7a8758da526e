/**
 * Creates the queues that `firebase deploy` does not: it creates one for each function, and DRIVE_QUEUES may require more for the
 * functions that drive runs. Each gets the settings of its function's queue, and keeps its own paused state.
 *
 * Must not: delete a queue. After the number was lowered, its tasks are still delivered.
 */
import { furtherQueues, MAX_QUEUES } from '../../packages/cairn/src/core/encoding/queue-place.ts';
import type { FirebaseTools } from './firebase-tools.ts';
import { functionsOf } from './google.ts';

/** Name of a function that drives several runs at a time, such as `drive` and `cairn-driveVideo`. */
const SHARED = /(^|-)drive(?!\w*Alone$)\w*$/;
/** Concurrent requests: within Google's limits, and a hundred queues take some seconds. */
const AT_ONCE = 10;

/** @throws Error with the allowed range */
export function queueCount(given: string | undefined): number {
  if (given === undefined || given === '') return 1;
  const count = Number(given);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_QUEUES) return count;
  throw new Error(`DRIVE_QUEUES is ${given}; it is a whole number from 1 to ${MAX_QUEUES}.`);
}

interface AskedQueues {
  readonly project: string;
  readonly codebases: readonly string[];
  /** Queues of each function, including its first. */
  readonly count: number;
}

/** @returns the names of the queues. @throws the error of Google; queues created before it stay */
export async function makeQueues(
  tools: FirebaseTools,
  { project, codebases, count }: AskedQueues,
): Promise<string[]> {
  if (count === 1) return [];
  const client = tools.client('https://cloudtasks.googleapis.com', 'v2');
  const deployed = await functionsOf(tools, project, codebases);
  const made: string[] = [];
  for (const { name, labels = {} } of deployed) {
    const [, location, id = ''] =
      /^(projects\/[^/]+\/locations\/[^/]+)\/functions\/([^/]+)$/.exec(name) ?? [];
    if (location === undefined || labels['deployment-taskqueue'] !== 'true' || !SHARED.test(id)) continue;
    const { body } = await client.get(`${location}/queues/${id}`);
    const { rateLimits, retryConfig } = body as { rateLimits?: object; retryConfig?: object };
    const further = furtherQueues(id, count);
    for (let from = 0; from < further.length; from += AT_ONCE) {
      const some = further.slice(from, from + AT_ONCE);
      await Promise.all(
        some.map((queue) =>
          // Creates a missing queue. The mask leaves out the state.
          client.patch(
            `${location}/queues/${queue}`,
            { rateLimits, retryConfig },
            { queryParams: { updateMask: 'rateLimits,retryConfig' } },
          ),
        ),
      );
      made.push(...some);
    }
  }
  return made;
}
