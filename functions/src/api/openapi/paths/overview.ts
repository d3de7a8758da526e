/** The routes that look over all runs of a tenant. */
import { PAGE, type Paths } from './describe.ts';

export const OVERVIEW_PATHS = {
  '/v1/inbox': {
    GET: {
      id: 'listInbox',
      summary: 'Lists every open question to a person, the run that has asked for the longest first',
      role: 'viewer',
      query: { ...PAGE, limit: 'Runs on a page, each with its questions: 1 to 100, default 20.' },
      answers: { 200: { what: 'A page of questions', schema: 'InboxPage' } },
    },
  },
} as const satisfies Paths;
