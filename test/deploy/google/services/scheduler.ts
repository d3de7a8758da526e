/** Cloud Scheduler. */

import { fieldsOf, updated } from '../masks.ts';
import { created, existing, type Route } from '../route.ts';

const HOST = 'cloudscheduler.googleapis.com';
const JOB = /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/jobs\/[^/:]+)$/;

export const scheduler: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: JOB,
    needs: 'cloudscheduler.jobs.get',
    answer: ({ jobs }, { name = '' }) => existing(jobs, name),
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/jobs$/,
    needs: 'cloudscheduler.jobs.create',
    answer: (google, _groups, { body }) => {
      const job = fieldsOf(body);
      return created(google.jobs, String(job.name), { ...job, state: 'ENABLED' });
    },
  },
  {
    host: HOST,
    method: 'PATCH',
    path: JOB,
    needs: 'cloudscheduler.jobs.update',
    answer: (google, { name = '' }, { body, url }) => {
      const job = existing(google.jobs, name);
      const changed = updated(job, fieldsOf(body), url.searchParams.get('updateMask') ?? '');
      google.jobs[name] = changed;
      return changed;
    },
  },
  {
    host: HOST,
    method: 'DELETE',
    path: JOB,
    needs: 'cloudscheduler.jobs.delete',
    answer: (google, { name = '' }) => {
      existing(google.jobs, name);
      delete google.jobs[name];
      return {};
    },
  },
];
