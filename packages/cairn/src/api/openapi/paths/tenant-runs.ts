/** The routes about all runs of a tenant: inbox, counts, statistics, search, and the daily budget. */
import { limit, requiredText, text, time } from '../../parameters.ts';
import { OF_RUNS, type OperationTable, PAGE, VOCABULARY } from './describe.ts';

export const TENANT_RUNS_OPERATIONS = {
  'GET /v1/inbox': {
    id: 'listInbox',
    summary: 'Lists all open questions, those of the longest-waiting run first',
    role: 'viewer',
    query: {
      ...PAGE,
      limit: limit('Runs per page, each with its questions.'),
    },
    answers: { 200: { what: 'A page of questions', schema: 'InboxPage' } },
  },
  'GET /v1/runs/counts': {
    id: 'countRuns',
    summary: 'Counts runs by status; the counts are at most two seconds old',
    role: 'viewer',
    readsMany: true,
    query: OF_RUNS,
    answers: { 200: { what: 'Number of runs by status', schema: 'RunCounts' } },
  },
  'GET /v1/runs/statistics': {
    id: 'readRunStatistics',
    summary:
      'Returns how many runs there were in a time, how they ended, how long they took and why they failed',
    role: 'viewer',
    readsMany: true,
    query: {
      ...OF_RUNS,
      since: time('Only runs created at this time or later; by default a day before `until`.'),
      until: time('Only runs created before this time; by default now.'),
    },
    answers: { 200: { what: 'The statistics', schema: 'RunStatistics' } },
  },
  'GET /v1/budgets/today': {
    id: 'readDayBudget',
    summary: 'Returns what the runs of a tenant have spent on the current UTC day, and its limits',
    role: 'viewer',
    query: { tenantId: text("Tenant; another one than the caller's requires the role `installation`.") },
    answers: { 200: { what: 'The budget of the day', schema: 'DayBudget' } },
  },
  'GET /v1/search': {
    id: 'searchRuns',
    summary: 'Finds runs by an identifier, at most 20, newest first',
    role: 'viewer',
    readsMany: true,
    query: {
      q: requiredText(
        'Run id or its prefix (`run_` and at least 6 characters), GitHub delivery id, idempotency key, thread id, trace id, or pull request URL.',
        'Give an identifier.',
      ),
      ...VOCABULARY,
    },
    answers: { 200: { what: 'The runs found; may be empty', schema: 'FoundRuns' } },
  },
} as const satisfies OperationTable;
