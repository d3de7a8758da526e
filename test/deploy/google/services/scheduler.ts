/** Cloud Scheduler. */

import { fieldsOf, updated } from '../masks.ts';
import { notFound, Refusal, type Route } from '../route.ts';

const HOST = 'cloudscheduler.googleapis.com';

export const scheduler: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/jobs\/[^/:]+)$/,
    needs: 'cloudscheduler.jobs.get',
    answer: ({ jobs }, { name = '' }) => {
      const job = jobs[name];
      if (!job) throw notFound(name);
      return job;
    },
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/jobs$/,
    needs: 'cloudscheduler.jobs.create',
    answer: (google, _groups, { body }) => {
      const job = fieldsOf(body);
      const name = String(job.name);
      if (google.jobs[name]) throw new Refusal(409, 'ALREADY_EXISTS', `${name} exists already`);
      google.jobs[name] = { ...job, state: 'ENABLED' };
      return google.jobs[name];
    },
  },
  {
    host: HOST,
    method: 'PATCH',
    path: /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/jobs\/[^/:]+)$/,
    needs: 'cloudscheduler.jobs.update',
    answer: (google, { name = '' }, { body, url }) => {
      const job = google.jobs[name];
      if (!job) throw notFound(name);
      const changed = updated(job, fieldsOf(body), url.searchParams.get('updateMask') ?? '');
      google.jobs[name] = changed;
      return changed;
    },
  },
  {
    host: HOST,
    method: 'DELETE',
    path: /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/jobs\/[^/:]+)$/,
    needs: 'cloudscheduler.jobs.delete',
    answer: (google, { name = '' }) => {
      if (!google.jobs[name]) throw notFound(name);
      delete google.jobs[name];
      return {};
    },
  },
];
