/** Rights that the queue, the scheduler and Pub/Sub need once functions are deployed. */
import { fieldsOf } from '../google/masks.ts';
import { type Fields, type Google, hasRole, type Policy } from '../google/model.ts';

const idOf = (fn: Fields) => String(fn.name).split('/').at(-1) ?? '';
const accountOf = (fn: Fields) => String(fieldsOf(fn.serviceConfig).serviceAccountEmail);

export const functionOf = (google: Google, id: string): Fields | undefined =>
  Object.values(google.functions).find((fn) => idOf(fn) === id);

export const invokerPolicy = (google: Google, fn: Fields): Policy | undefined =>
  google.services[String(fieldsOf(fn.serviceConfig).service)]?.policy;

/** The rights that are missing, in words; empty: every function can be called by whoever calls it. */
export function missingBindings(google: Google): string[] {
  return Object.values(google.functions).flatMap((fn) => {
    const labels = fieldsOf(fn.labels);
    if (labels['deployment-taskqueue'] === 'true') return missingForQueue(google, fn);
    if (labels['deployment-scheduled'] === 'true') return missingForJob(google, fn);
    if (fn.eventTrigger !== undefined) return missingForMessages(google, fn);
    return missingForDoor(google, fn);
  });
}

/** Tasks carry the identity of the functions that make them, which is that of the codebase. */
function missingForQueue(google: Google, fn: Fields): string[] {
  const account = accountOf(fn);
  const own = google.accounts[account];
  const queue = google.queues[String(fn.name).replace('/functions/', '/queues/')];
  return [
    ...invoker(google, fn, account),
    ...(hasRole(google, account, 'roles/cloudtasks.enqueuer')
      ? []
      : [`${account} may not put tasks into ${idOf(fn)}`]),
    ...(own && hasRole(google, account, 'roles/iam.serviceAccountUser', own)
      ? []
      : [`${account} may not make tasks with its own identity`]),
    ...(queue ? [] : [`there is no queue ${idOf(fn)}`]),
  ];
}

function missingForJob(google: Google, fn: Fields): string[] {
  const job = Object.values(google.jobs).find((one) =>
    [fn.url, fieldsOf(fn.serviceConfig).uri].includes(fieldsOf(one.httpTarget).uri),
  );
  if (!job) return [`there is no job for ${idOf(fn)}`];
  const { serviceAccountEmail } = fieldsOf(fieldsOf(job.httpTarget).oidcToken);
  return invoker(google, fn, String(serviceAccountEmail));
}

function missingForMessages(google: Google, fn: Fields): string[] {
  const trigger = fieldsOf(fn.eventTrigger);
  const account = String(trigger.serviceAccountEmail ?? accountOf(fn));
  return [
    ...invoker(google, fn, account),
    ...(hasRole(google, account, 'roles/eventarc.eventReceiver')
      ? []
      : [`${account} may not receive events`]),
    ...(google.topics[String(trigger.pubsubTopic)] ? [] : [`the topic of ${idOf(fn)} does not exist`]),
  ];
}

function missingForDoor(google: Google, fn: Fields): string[] {
  const isOpen = invokerPolicy(google, fn)?.bindings.some(
    ({ role, members }) => role === 'roles/run.invoker' && members.includes('allUsers'),
  );
  return isOpen ? [] : [`${idOf(fn)} is not open to everybody`];
}

function invoker(google: Google, fn: Fields, account: string): string[] {
  const policy = invokerPolicy(google, fn);
  return policy && hasRole(google, account, 'roles/run.invoker', policy)
    ? []
    : [`${account} may not call ${idOf(fn)}`];
}
