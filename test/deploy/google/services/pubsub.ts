/** Pub/Sub topics. */
import { notFound, Refusal, type Route } from '../route.ts';

const HOST = 'pubsub.googleapis.com';

export const pubsub: readonly Route[] = [
  {
    host: HOST,
    method: 'PUT',
    path: /^\/v1\/(?<name>projects\/[^/]+\/topics\/[^/]+)$/,
    needs: 'pubsub.topics.create',
    answer: (google, { name = '' }) => {
      if (google.topics[name]) throw new Refusal(409, 'ALREADY_EXISTS', `${name} exists already`);
      google.topics[name] = { name };
      return { name };
    },
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/(?<name>projects\/[^/]+\/topics\/[^/]+)$/,
    needs: 'pubsub.topics.get',
    answer: ({ topics }, { name = '' }) => {
      const topic = topics[name];
      if (!topic) throw notFound(name);
      return topic;
    },
  },
];
