/** Validates resource names of Cloud Tasks, with production's error messages. Pure. */
import { invalid } from './errors.ts';

/** A project id, which may have a domain, or a project number. */
const PROJECT = '[A-Za-z0-9][A-Za-z0-9:.-]*';
const LOCATION = '[a-z0-9-]+';
const QUEUE = '[A-Za-z0-9-]{1,100}';
const TASK = '[A-Za-z0-9_-]{1,500}';

const LOCATION_NAME = new RegExp(`^projects/${PROJECT}/locations/${LOCATION}$`);
const QUEUE_NAME = new RegExp(`^projects/${PROJECT}/locations/${LOCATION}/queues/${QUEUE}$`);
const TASK_NAME = new RegExp(`^(projects/${PROJECT}/locations/${LOCATION}/queues/${QUEUE})/tasks/${TASK}$`);
/** Names with any text as the last id. */
const ANY_QUEUE = new RegExp(`^projects/${PROJECT}/locations/${LOCATION}/queues/([^/]*)$`);
const ANY_TASK = new RegExp(`^projects/${PROJECT}/locations/${LOCATION}/queues/${QUEUE}/tasks/([^/]*)$`);
const QUEUE_FORMAT = 'projects/<PROJECT_ID>/locations/<LOCATION_ID>/queues/<QUEUE_ID>';
/** Most characters of an id in an error. */
const SHOWN = 600;

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
    const id = ANY_QUEUE.exec(name)?.[1];
    throw invalid(
      id === undefined
        ? `Queue name must be formatted: "${QUEUE_FORMAT}".`
        : `Queue ID "${id.slice(0, SHOWN)}" can contain only letters ([A-Za-z]), numbers ([0-9]), or hyphens (-). Queue ID must between 1 and 100 characters.`,
    );
  }
  return name;
}

/** The task's name and its queue's. */
export function requireTask(name: string): { readonly name: string; readonly queue: string } {
  const queue = TASK_NAME.exec(name)?.[1];
  if (queue === undefined) {
    const id = ANY_TASK.exec(name)?.[1];
    throw invalid(
      id === undefined
        ? `Task name must be formatted: "${QUEUE_FORMAT}/tasks/<TASK_ID>".`
        : `Task ID "${id.slice(0, SHOWN)}" can contain only letters ([A-Za-z]), numbers ([0-9]), hyphens (-), or underscores (_). Task ID must between 1 and 500 characters.`,
    );
  }
  return { name, queue };
}
