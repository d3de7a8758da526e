/** Cloud Scheduler. */

import { fieldsOf, updated } from '../masks.ts';
import type { Fields } from '../model.ts';
import { created, existing, type Route } from '../route.ts';

const HOST = 'cloudscheduler.googleapis.com';
const JOB = /^\/v1\/(?<name>projects\/[^/]+\/locations\/[^/]+\/jobs\/[^/:]+)$/;

const RETRY_CONFIG: Fields = {
  maxRetryDuration: '0s',
  minBackoffDuration: '5s',
  maxBackoffDuration: '3600s',
  maxDoublings: 5,
};

const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));

/** With Google's values for what is not named. */
const completed = (job: Fields): Fields => ({
  attemptDeadline: '180s',
  ...given(job),
  retryConfig: { ...RETRY_CONFIG, ...given(fieldsOf(job.retryConfig)) },
});

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
      return created(google.jobs, String(job.name), { ...completed(job), state: 'ENABLED' });
    },
  },
  {
    host: HOST,
    method: 'PATCH',
    path: JOB,
    needs: 'cloudscheduler.jobs.update',
    answer: (google, { name = '' }, { body, url }) => {
      const job = existing(google.jobs, name);
      const changed = completed(updated(job, fieldsOf(body), url.searchParams.get('updateMask') ?? ''));
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
