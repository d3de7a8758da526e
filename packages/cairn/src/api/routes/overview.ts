/** Searches, open questions, counts and the budget of the day: the overview that a tenant has of all its runs. */
import { ceilingOf, dayAfter, dayOf, newDayBudget, usedOf } from '../../core/budget/day.ts';
import { shownAmounts } from '../../core/budget/given.ts';
import { invalidInput } from '../../core/errors.ts';
import { MIN_TIME } from '../../core/time.ts';
import { externalQuestions } from '../../operations/effects/external.ts';
import { readInbox } from '../../operations/inbox/read-inbox.ts';
import { findRuns } from '../../operations/search/find-runs.ts';
import { readStatistics } from '../../operations/search/read-statistics.ts';
import { FINDINGS_READ } from '../../ports/diagnosis/findings.ts';
import { assertRole } from '../auth.ts';
import type { ReadHandler } from '../route.ts';
import { listedBlocked } from '../views/blocked.ts';
import { listedFinding } from '../views/finding.ts';
import { externalQuestion, inboxItems } from '../views/inbox.ts';
import { runSummary } from '../views/run.ts';
import { iso } from '../views/values.ts';
import { runFilter } from './read-runs.ts';

/** Runs that do not exist and runs of other tenants give the same empty response. */
export const searchRuns: ReadHandler<'GET /v1/search'> = async ({ deps, caller, query }) => {
  const now = deps.clock.now();
  const found = await findRuns(deps, caller.tenantId, query.q);
  return {
    items: found.map(({ by, run }) => ({
      by,
      run: { ...runSummary(run, query.vocabulary), ...listedBlocked(deps.registry, run, now) },
    })),
  };
};

/** Pages are of runs: all questions of a run are on one page. */
export const listInbox: ReadHandler<'GET /v1/inbox'> = async (call) => {
  const { deps, query: page } = call;
  const { tenantId } = call.caller;
  const isFirst = page.cursor === undefined;
  const [{ items, ...listed }, findings, external] = await Promise.all([
    readInbox(deps, tenantId, page),
    isFirst ? deps.diagnosis.findings.ofTenant(tenantId, FINDINGS_READ) : [],
    isFirst ? externalQuestions(deps, tenantId) : { items: [], unreadable: [] },
  ]);
  return {
    items: items.flatMap(inboxItems),
    ...listed,
    findings: findings.length > 0 ? findings.map(listedFinding) : undefined,
    external: external.items.length > 0 ? external.items.map(externalQuestion) : undefined,
    unreadableEffects: external.unreadable.length > 0 ? external.unreadable : undefined,
  };
};

/** `GET /v1/runs/counts`: how many runs there are of each status. */
export const readRunCounts: ReadHandler<'GET /v1/runs/counts'> = ({ instance, caller, query }) =>
  instance.runCounts.count(runFilter(caller, query).filter);

/** Without `since`, ms. */
const DEFAULT_STRETCH_MS = 86_400_000;

/** `GET /v1/runs/statistics`: how many runs there were in a time, how they ended, and why they failed. */
export const readRunStatistics: ReadHandler<'GET /v1/runs/statistics'> = async ({ deps, caller, query }) => {
  const { createdFrom, createdBefore, ...filter } = runFilter(caller, query).filter;
  const until = createdBefore ?? deps.clock.now();
  const from = createdFrom ?? Math.max(MIN_TIME, until - DEFAULT_STRETCH_MS);
  if (from >= until)
    throw invalidInput('since', 'since: the time does not lie before its end', {
      help: 'Send a since before until, or before now.',
    });
  const { parts, causes, ...read } = await readStatistics(deps.store, filter, { from, until });
  return {
    ...read,
    from: iso(read.from),
    until: iso(read.until),
    parts: parts.map((part) => ({ ...part, from: iso(part.from) })),
    causes: causes.map(({ last, ...cause }) => ({ ...cause, last: { ...last, at: iso(last.at) } })),
  };
};

export const readDayBudget: ReadHandler<'GET /v1/budgets/today'> = async ({ deps, caller, query }) => {
  const { clock, dayBudgets, dayLimits } = deps;
  const { tenantId = caller.tenantId } = query;
  if (tenantId !== caller.tenantId) assertRole(caller, 'installation');
  const now = clock.now();
  const day = dayOf(now);
  const limits = dayLimits(tenantId)?.limits ?? {};
  const stored = await dayBudgets.read(tenantId, day);
  // Limits as configured hold from the next call on.
  const budget = { ...(stored?.budget ?? newDayBudget({ tenantId, day, limits })), limits };
  const { spent, holds, raises } = budget;
  return {
    tenantId,
    day,
    nextDayAt: iso(dayAfter(now)),
    limits: shownAmounts(ceilingOf(budget)),
    spent: shownAmounts(spent),
    held: shownAmounts(usedOf({ spent: {}, holds })),
    raises: raises.map(({ by, at, amounts }) => ({ by, at: iso(at), amounts: shownAmounts(amounts) })),
  };
};
