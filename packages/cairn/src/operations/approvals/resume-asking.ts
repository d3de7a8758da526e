/**
 * Continues other runs of a tenant that asked about the day's budget before a person raised it: the longest-waiting first, while
 * their needs fit. The others keep their question. Best effort: a run that is left out continues when it is approved, or at
 * the end of the day.
 *
 * Must not: raise the limits.
 */
import { admittable, attemptKind, type DayAmounts, type DayBudget } from '../../core/budget/day.ts';
import { workThrough } from '../../core/map-concurrently.ts';
import type { DayQuestion, EventDraft } from '../../core/run/events.ts';
import { questionsOf } from '../../core/run/open-questions.ts';
import { type RunState, stepKey } from '../../core/run/state.ts';
import type { ListedState } from '../../core/search/listed.ts';
import { messageOf } from '../../core/thrown.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import { workflowOf } from '../../engine/definition-of-run.ts';
import { driveAfter } from '../../engine/drive-after.ts';
import { asksForDay, neededOf, reachedOf } from '../../engine/waits/budget-question.ts';
import * as endOfWait from '../../engine/waits/end-of-wait.ts';
import { appendToRun } from '../append-to-run.ts';
import { asConfigured, type DayBudgetDeps } from './raise-day.ts';

/** The question that was answered with the raise. */
export interface Raised {
  readonly run: Pick<ListedState, 'id' | 'tenantId' | 'type' | 'planVersion' | 'planFingerprint'>;
  readonly wait: DayQuestion;
  /** The person who raised the limits. */
  readonly actor: string;
}

/** Runs with an open question read at once. */
const PAGE = 100;
/** Time for reading further pages, ms: runs of earlier pages may ask about something else, and a person waits for the response. */
const READ_MS = 5_000;
/** Runs read within that time, the longest-waiting first. */
const MAX_READ = 5_000;
/** Number of questions that do not fit after which the day counts as used up. */
const MANY_REFUSED = 100;
/** Time for continuing runs, ms. Together with the reads it is well below the minute that a request to the API may take. */
const RESUME_MS = 20_000;
const AT_ONCE = 10;

interface AskingWait {
  readonly runId: string;
  readonly wait: DayQuestion;
  readonly need: DayAmounts;
}

/** Never throws, because the answer with the raise is already in the journal. */
export async function resumeAsking(deps: DayBudgetDeps, raised: Raised): Promise<void> {
  const { clock, log } = deps;
  const part = { tenantId: raised.run.tenantId, day: raised.wait.day };
  try {
    const asking = await askingThatFit(deps, raised);
    const left = [...asking];
    const endsAt = clock.now() + RESUME_MS;
    const next = () => (clock.now() < endsAt ? left.shift() : undefined);
    await workThrough(next, AT_ONCE, (one) => resumeOne(deps, raised, one));
    if (left.length > 0) log.warn('day_budget_resumed_in_part', { ...part, left: left.length });
    if (asking.length > 0) log.info('day_budget_resumed', { ...part, runs: asking.length - left.length });
  } catch (error) {
    log.warn('day_budget_not_resumed', { ...part, error: messageOf(error) });
  }
}

async function askingThatFit(deps: DayBudgetDeps, { run, wait }: Raised): Promise<readonly AskingWait[]> {
  const { dayBudgets, registry } = deps;
  const { day } = wait;
  const found = await dayBudgets?.read(run.tenantId, day);
  if (!found) return [];
  const budget = asConfigured(deps, found.budget);
  const own = { runId: run.id, wait, need: needOf(registry, budget, run, wait) };
  const asking: AskingWait[] = [];
  let fitting: readonly AskingWait[] = [];
  /** Number of questions read when the last fitting one was found. */
  let atLastFit = 0;
  for await (const states of pagesOfAsking(deps, { tenantId: run.tenantId, day })) {
    for (const state of states) {
      const question = questionsOf(state)
        .filter(asksForDay)
        .find((one) => one.day === day);
      if (!question || state.id === run.id) continue;
      asking.push({ runId: state.id, wait: question, need: needOf(registry, budget, state, question) });
    }
    const oldestFirst = asking.toSorted((a, b) => a.wait.openedAt - b.wait.openedAt);
    const before = fitting.length;
    fitting = admittable(budget, [own, ...oldestFirst]).filter(({ runId }) => runId !== run.id);
    if (fitting.length > before) atLastFit = asking.length;
    if (asking.length - atLastFit >= MANY_REFUSED) break;
  }
  return fitting;
}

/** Runs with an open question, the longest-waiting first. Ends at a page that cannot be read, so that runs of earlier pages still continue. */
async function* pagesOfAsking(
  { finder, clock, log }: DayBudgetDeps,
  part: { readonly tenantId: string; readonly day: string },
): AsyncGenerator<readonly RunState[]> {
  if (!finder) return;
  const endsAt = clock.now() + READ_MS;
  let cursor: string | undefined;
  let read = 0;
  try {
    do {
      const page = await finder.asking(part.tenantId, { limit: PAGE, cursor });
      read += PAGE;
      yield page.items;
      cursor = page.next;
    } while (cursor !== undefined && read < MAX_READ && clock.now() < endsAt);
    if (cursor !== undefined) log.warn('day_budget_resumed_in_part', { ...part, read });
  } catch (error) {
    log.warn('day_budget_resumed_in_part', { ...part, read, error: messageOf(error) });
  }
}

/** The amount that the question names. Otherwise the step's estimate or the highest cost of its kind, and a part of each limit that was reached. */
function needOf(
  registry: WorkflowRegistry,
  { largest, limits }: DayBudget,
  run: Raised['run'],
  wait: DayQuestion,
): DayAmounts {
  const needed = neededOf(wait);
  if (needed) return needed;
  const { execution } = wait;
  const step = workflowOf(registry, run)?.steps.get(execution.stepId);
  const estimate = step && 'estimate' in step ? step.estimate : undefined;
  const spend = estimate ?? largest[`${run.type}:${attemptKind(execution)}`] ?? {};
  const least = Object.fromEntries(reachedOf(wait).map((name) => [name, 1]));
  return { ...least, ...spend, ...(limits.operations !== undefined && { operations: 1 }) };
}

async function resumeOne(
  deps: DayBudgetDeps,
  { run: { tenantId }, actor }: Raised,
  { runId, wait }: AskingWait,
): Promise<void> {
  try {
    const decide = (state: RunState, now: number) => resumedDrafts(state, { id: wait.id, actor, now });
    await driveAfter(deps, await appendToRun(deps, { runId, tenantId, decide }));
  } catch (error) {
    deps.log.warn('day_budget_not_resumed', { tenantId, runId, error: messageOf(error) });
  }
}

/** Empty if the question is no longer open, or the run is ending. */
function resumedDrafts(
  state: RunState,
  { id, actor, now }: { readonly id: string; readonly actor: string; readonly now: number },
): EventDraft[] {
  const wait = state.waits.find((one) => one.id === id);
  if (!wait || state.cancellation || state.compensating) return [];
  if (wait.dueAt !== undefined && now >= wait.dueAt) return [];
  const answer = { initiator: 'approval', actor } as const;
  const why = `'${stepKey(wait.execution)}': the budget of ${wait.day} was raised`;
  return [
    ...endOfWait.budgetAnswerDrafts({ wait, now }, answer),
    ...endOfWait.resumptionDrafts(state, why, answer),
  ];
}
