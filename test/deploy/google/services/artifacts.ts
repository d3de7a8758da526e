/** Artifact Registry: the images that functions are built into. */

import { fieldsOf, updated } from '../masks.ts';
import { notFound, type Route } from '../route.ts';

const HOST = 'artifactregistry.googleapis.com';

export const artifacts: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/repositories\/[^/]+)$/,
    needs: 'artifactregistry.repositories.get',
    answer: ({ repositories }, { name = '' }) => repositories[name] ?? refuse(name),
  },
  {
    host: HOST,
    method: 'PATCH',
    path: /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/repositories\/[^/]+)$/,
    needs: 'artifactregistry.repositories.update',
    answer: (google, { name = '' }, { body, url }) => {
      const old = google.repositories[name] ?? refuse(name);
      const changed = updated(old, fieldsOf(body), url.searchParams.get('updateMask') ?? '');
      google.repositories[name] = changed;
      return changed;
    },
  },
];

function refuse(name: string): never {
  throw notFound(name);
}
