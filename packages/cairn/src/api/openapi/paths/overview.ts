/** The routes that look over all runs of a tenant. */
import { PAGE, type Paths, WORDS } from './describe.ts';

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
  '/v1/runs/counts': {
    GET: {
      id: 'countRuns',
      summary: 'Counts runs by status, as of two seconds ago at most',
      role: 'viewer',
      query: {
        type: 'Only runs of this workflow.',
        repoId: 'Only runs about this repository.',
        threadId: 'Only runs of this thread.',
      },
      answers: { 200: { what: 'How many runs there are of each status', schema: 'RunCounts' } },
    },
  },
  '/v1/search': {
    GET: {
      id: 'searchRuns',
      summary: 'Finds runs by a name that somebody has in hand, at most 20, the newest first',
      role: 'viewer',
      query: {
        q: 'Id of a run or its beginning (`run_` and 6 characters at least), GitHub delivery, idempotency key as it was sent, thread, trace id, or address of a pull request.',
        ...WORDS,
      },
      answers: { 200: { what: 'What was found, perhaps nothing', schema: 'FoundRuns' } },
    },
  },
} as const satisfies Paths;
