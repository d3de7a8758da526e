/** Pub/Sub topics. */
import { created, existing, type Route } from '../route.ts';

const HOST = 'pubsub.googleapis.com';

export const pubsub: readonly Route[] = [
  {
    host: HOST,
    method: 'PUT',
    path: /^\/v1\/(?<name>projects\/[^/]+\/topics\/[^/]+)$/,
    needs: 'pubsub.topics.create',
    answer: ({ topics }, { name = '' }) => created(topics, name, { name }),
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/(?<name>projects\/[^/]+\/topics\/[^/]+)$/,
    needs: 'pubsub.topics.get',
    answer: ({ topics }, { name = '' }) => existing(topics, name),
  },
];
