/** The routes about all runs of a tenant. */
import { PAGE, type PathTable, WORDS } from './describe.ts';

export const OVERVIEW_PATHS = {
  '/v1/inbox': {
    GET: {
      id: 'listInbox',
      summary: 'Lists all open questions, those of the longest-waiting run first',
      role: 'viewer',
      query: { ...PAGE, limit: 'Runs per page, each with its questions: 1 to 100, default 20.' },
      answers: { 200: { what: 'A page of questions', schema: 'InboxPage' } },
    },
  },
  '/v1/runs/counts': {
    GET: {
      id: 'countRuns',
      summary: 'Counts runs by status; the counts are at most two seconds old',
      role: 'viewer',
      query: {
        type: 'Only runs of this workflow.',
        repoId: 'Only runs for this repository.',
        threadId: 'Only runs of this thread.',
        tag: 'Only runs with this tag, such as `customer:42`.',
      },
      answers: { 200: { what: 'Number of runs by status', schema: 'RunCounts' } },
    },
  },
  '/v1/runs/statistics': {
    GET: {
      id: 'readRunStatistics',
      summary:
        'Returns how many runs there were in a time, how they ended, how long they took and why they failed',
      role: 'viewer',
      query: {
        type: 'Only runs of this workflow.',
        repoId: 'Only runs for this repository.',
        threadId: 'Only runs of this thread.',
        tag: 'Only runs with this tag, such as `customer:42`.',
        since: 'Only runs created at this time or later, RFC 3339; by default a day before `until`.',
        until: 'Only runs created before this time, RFC 3339; by default now.',
      },
      answers: { 200: { what: 'The statistics', schema: 'RunStatistics' } },
    },
  },
  '/v1/budgets/today': {
    GET: {
      id: 'readDayBudget',
      summary: 'Returns what the runs of a tenant have spent on the current UTC day, and its limits',
      role: 'viewer',
      query: { tenantId: "Tenant; another one than the caller's requires the role `installation`." },
      answers: { 200: { what: 'The budget of the day', schema: 'DayBudget' } },
    },
  },
  '/v1/search': {
    GET: {
      id: 'searchRuns',
      summary: 'Finds runs by an identifier, at most 20, newest first',
      role: 'viewer',
      query: {
        q: 'Run id or its prefix (`run_` and at least 6 characters), GitHub delivery id, idempotency key, thread id, trace id, or pull request URL.',
        ...WORDS,
      },
      answers: { 200: { what: 'The runs found; may be empty', schema: 'FoundRuns' } },
    },
  },
} as const satisfies PathTable;
