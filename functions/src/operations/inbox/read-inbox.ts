/**
 * Everything that the runs of a tenant ask people now. Reads only.
 *
 * Must not: decide what counts as a question (core/run/asking.ts) or which answers there are (questions.ts).
 */
import type { EffectRecord } from '../../core/effects/effect.ts';
import type { RunState } from '../../core/run/state.ts';
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Page, PageRequest } from '../../ports/run-store.ts';
import type { EffectStore } from '../../ports/runs/effect-store.ts';
import type { RunFinder } from '../../ports/runs/run-finder.ts';
import { isLeft, type OpenQuestion, openQuestions } from './questions.ts';

export interface InboxDeps {
  readonly finder: RunFinder;
  readonly effects: EffectStore;
  /** Says which answers a question takes. */
  readonly registry: WorkflowRegistry;
  readonly clock: Clock;
}

/** Of one run: a person answers some and looks again, and a page of 100 runs still fits an answer. */
export const MAX_QUESTIONS_OF_RUN = 20;
/** Rows of the ledger asked for at once. */
const CONCURRENT_ROWS = 10;

/** A question, with the row of the ledger that it is about, if it is about one and that says more than the run. */
export type InboxQuestion = OpenQuestion & { readonly row?: EffectRecord };

export interface AskingRun {
  readonly run: RunState;
  readonly questions: readonly InboxQuestion[];
  /** How many more it asks than are told. */
  readonly more: number;
}

/**
 * A page of runs, who has asked for the longest first, each with its questions. Rows are read only for what the run itself
 * cannot tell: at most as many as there are questions on the page.
 */
export async function readInbox(
  deps: InboxDeps,
  tenantId: string,
  page: PageRequest,
): Promise<Page<AskingRun>> {
  const { items, ...listed } = await deps.finder.asking(tenantId, page);
  const now = deps.clock.now();
  const asking = items.map((run) => {
    const all = openQuestions(run, deps.registry, now);
    const questions = all.slice(0, MAX_QUESTIONS_OF_RUN);
    return { run, questions, more: all.length - questions.length };
  });
  const rows = await readRows(deps.effects, asking.flatMap(rowsNeeded));
  const told = asking.map(({ run, questions, more }) => ({
    run,
    questions: questions.flatMap((question) => withRow(run, question, rows)),
    more,
  }));
  return { ...listed, items: told.filter(({ questions }) => questions.length > 0) };
}

function rowsNeeded({ questions }: AskingRun): string[] {
  const unclear = questions.filter(
    ({ kind, capabilityId }) => kind === 'left_in_doubt' || capabilityId === undefined,
  );
  return unclear.flatMap(({ effectId }) => effectId ?? []);
}

/** What has become known since the run ended is asked no more. */
function withRow(
  run: RunState,
  question: OpenQuestion,
  rows: ReadonlyMap<string, EffectRecord>,
): InboxQuestion[] {
  const row = question.effectId === undefined ? undefined : rows.get(question.effectId);
  if (!row) return [question];
  if (question.kind === 'left_in_doubt' && !isLeft(row, run)) return [];
  return [{ ...question, capabilityId: row.capabilityId, row }];
}

async function readRows(
  effects: EffectStore,
  effectIds: readonly string[],
): Promise<ReadonlyMap<string, EffectRecord>> {
  const rows = new Map<string, EffectRecord>();
  for (let from = 0; from < effectIds.length; from += CONCURRENT_ROWS) {
    const some = effectIds.slice(from, from + CONCURRENT_ROWS);
    const found = await Promise.all(some.map((effectId) => effects.read(effectId)));
    for (const stored of found) if (stored) rows.set(stored.record.effectId, stored.record);
  }
  return rows;
}
