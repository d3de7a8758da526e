/** Validates resource names of Cloud Tasks. Pure. */
import { invalid } from './errors.ts';

/** An id, also of a domain, or a number. */
const PROJECT = '[A-Za-z0-9][A-Za-z0-9:.-]*';
const LOCATION = '[a-z0-9-]+';
const QUEUE = '[A-Za-z0-9-]{1,100}';
const TASK = '[A-Za-z0-9_-]{1,500}';

const LOCATION_NAME = new RegExp(`^projects/${PROJECT}/locations/${LOCATION}$`);
const QUEUE_NAME = new RegExp(`^projects/${PROJECT}/locations/${LOCATION}/queues/${QUEUE}$`);
const TASK_NAME = new RegExp(`^(projects/${PROJECT}/locations/${LOCATION}/queues/${QUEUE})/tasks/${TASK}$`);

export function requireLocation(name: string): string {
  if (!LOCATION_NAME.test(name)) {
    throw invalid(
      `Invalid resource field value in the request: '${name}' must be "projects/PROJECT_ID/locations/LOCATION_ID".`,
    );
  }
  return name;
}

export function requireQueue(name: string): string {
  if (!QUEUE_NAME.test(name)) {
    throw invalid(
      `Queue name must be formatted: "projects/<PROJECT_ID>/locations/<LOCATION_ID>/queues/<QUEUE_ID>"; queue ids have letters, digits and hyphens, at most 100. Got '${name}'.`,
    );
  }
  return name;
}

/** The task's name and its queue's. */
export function requireTask(name: string): { readonly name: string; readonly queue: string } {
  const queue = TASK_NAME.exec(name)?.[1];
  if (queue === undefined) {
    throw invalid(
      `Task name must be formatted: "projects/<PROJECT_ID>/locations/<LOCATION_ID>/queues/<QUEUE_ID>/tasks/<TASK_ID>"; task ids have letters, digits, hyphens and underscores, at most 500. Got '${name}'.`,
    );
  }
  return { name, queue };
}
