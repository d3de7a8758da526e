/**
 * All open questions of a tenant's runs. Changes no run, but removes ended runs without open questions from the inbox.
 *
 * Must not: decide which questions (core/run/open-questions.ts) or answers (questions.ts) there are.
 */
import { mapConcurrently } from '../../core/map-concurrently.ts';
import type { RunState } from '../../core/run/state.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Page, PageRequest } from '../../ports/run-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';
import { isOfDocument } from '../../ports/store-errors.ts';
import { type InboxQuestion, leftInDoubt, withRow } from './left-in-doubt.ts';
import { type DeployedDefinitions, openQuestions } from './questions.ts';
import { type RemoveFromInboxDeps, removeFromInbox } from './remove-from-inbox.ts';

interface InboxDeps extends DeployedDefinitions, RemoveFromInboxDeps {
  readonly finder: RunFinder;
  readonly clock: Clock;
}

/**
 * Most questions shown of one run: an operator answers some and reads again, and a page of 100 runs still fits a response.
 */
export const MAX_QUESTIONS_OF_RUN = 20;
/** Runs whose ledger rows are read at once. */
const CONCURRENT_RUNS = 5;

export interface AskingRun {
  readonly run: RunState;
  readonly questions: readonly InboxQuestion[];
  /** Number of omitted questions; for an ended run, an upper bound. */
  readonly more: number;
}

/**
 * A page of runs, longest-waiting first, each with its questions, and the ledger row of each question about an effect. A run is
 * also `unreadable` if a document that its questions depend on is: a row of the ledger, or a successor of a newer version.
 */
export async function readInbox(
  deps: InboxDeps,
  tenantId: string,
  page: PageRequest,
): Promise<Page<AskingRun>> {
  const { items, unreadable = [], ...listed } = await deps.finder.asking(tenantId, page);
  const found = await mapConcurrently(items, CONCURRENT_RUNS, (run) => askingIfReadable(deps, run));
  const damaged = items.flatMap(({ id }, i) => (found[i] ? [] : [id]));
  const ids = [...unreadable, ...damaged];
  return {
    ...listed,
    items: found.filter((one) => one !== undefined).filter(({ questions }) => questions.length > 0),
    ...(ids.length > 0 ? { unreadable: ids } : {}),
  };
}

async function askingIfReadable(deps: InboxDeps, run: RunState): Promise<AskingRun | undefined> {
  try {
    return await askingRun(deps, run);
  } catch (error) {
    if (!isOfDocument(error)) throw error;
    deps.log.warn('inbox_run_unreadable', { runId: run.id, error: error.message });
    return undefined;
  }
}

async function askingRun(deps: InboxDeps, run: RunState): Promise<AskingRun> {
  const all = openQuestions(run, deps, deps.clock.now());
  if (all[0]?.kind === 'left_in_doubt') {
    const left = await leftInDoubt(deps, { run, questions: all, most: MAX_QUESTIONS_OF_RUN });
    if (left.isKnown) await removeFromInbox(deps, run.id);
    return { run, ...left };
  }
  const some = all.slice(0, MAX_QUESTIONS_OF_RUN);
  const questions = await Promise.all(some.map((question) => withRow(deps, question)));
  return { run, questions, more: all.length - some.length };
}
