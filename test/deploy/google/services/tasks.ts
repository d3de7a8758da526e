/**
 * Cloud Tasks queues. An update changes what its mask names, the state too: firebase-tools disables a queue so, and sends
 * `RUNNING` with every function that it updates.
 */

import { fieldsOf, updated } from '../masks.ts';
import { emptyPolicy } from '../model.ts';
import { created, existing, type Route } from '../route.ts';
import { asJson } from './policies.ts';

const HOST = 'cloudtasks.googleapis.com';
const QUEUE = '(?<name>projects\\/[^/]+\\/locations\\/[^/]+\\/queues\\/[^/:]+)';

export const tasks: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: new RegExp(`^/v2/${QUEUE}$`),
    needs: 'cloudtasks.queues.get',
    answer: ({ queues }, { name = '' }) => existing(queues, name),
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v2\/projects\/[^/]+\/locations\/[^/]+\/queues$/,
    needs: 'cloudtasks.queues.create',
    answer: (google, _groups, { body }) => {
      const queue = fieldsOf(body);
      return created(google.queues, String(queue.name), { ...queue, state: 'RUNNING' });
    },
  },
  {
    host: HOST,
    method: 'PATCH',
    path: new RegExp(`^/v2/${QUEUE}$`),
    needs: 'cloudtasks.queues.update',
    answer: (google, { name = '' }, { body, url }) => {
      const changed = updated(
        google.queues[name] ?? { name, state: 'RUNNING' },
        fieldsOf(body),
        url.searchParams.get('updateMask') ?? '',
      );
      google.queues[name] = changed;
      return changed;
    },
  },
  {
    host: HOST,
    method: 'POST',
    path: new RegExp(`^/v2/${QUEUE}:purge$`),
    needs: 'cloudtasks.queues.purge',
    answer: ({ queues }, { name = '' }) => queues[name] ?? {},
  },
  {
    host: HOST,
    method: 'POST',
    path: new RegExp(`^/v2/${QUEUE}:[gs]etIamPolicy$`),
    answer: () => asJson(emptyPolicy()),
  },
];
