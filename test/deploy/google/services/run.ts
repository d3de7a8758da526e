/** Cloud Run: the services that functions are, and who may call them. */

import type { Google, RunService } from '../model.ts';
import { existing, type Route } from '../route.ts';
import { asJson, policyOf } from './policies.ts';

const HOST = 'run.googleapis.com';

function serviceOf({ services }: Google, name: string): RunService {
  return existing(services, name);
}

export const run: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/services\/[^/:]+)$/,
    needs: 'run.services.get',
    answer: (google, { name = '' }) => serviceOf(google, name).spec,
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/services\/[^/:]+):getIamPolicy$/,
    needs: 'run.services.getIamPolicy',
    answer: (google, { name = '' }) => asJson(serviceOf(google, name).policy),
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/services\/[^/:]+):setIamPolicy$/,
    needs: 'run.services.setIamPolicy',
    answer: (google, { name = '' }, { body }) => {
      const service = serviceOf(google, name);
      service.policy = policyOf(body);
      return asJson(service.policy);
    },
  },
];
