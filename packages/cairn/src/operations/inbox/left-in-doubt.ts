/**
 * Effects that ended runs left in doubt and that an operator still has to resolve. Excludes effects whose outcome the ledger
 * knows by now, and those that another run of the lineage will look up. Also adds the ledger row to questions of live runs.
 *
 * Must not: change a row.
 */
import { type EffectRecord, isInDoubt } from '../../core/effects/effect.ts';
import { isOver, type RunState } from '../../core/run/state.ts';
import type { OpenQuestion } from './questions.ts';
import type { RemoveFromInboxDeps } from './remove-from-inbox.ts';

/** A question, with its row of the ledger if it concerns an effect and the ledger has the row. */
export type InboxQuestion = OpenQuestion & { readonly row?: EffectRecord | undefined };

interface LeftQuestions {
  /** At most the requested number. */
  readonly questions: readonly InboxQuestion[];
  /** Number of questions that were not checked; the ledger may know the outcome of some. */
  readonly more: number;
  /** True if the ledger knows the outcome of all effects. */
  readonly isKnown: boolean;
}

/** Longest chain of resumes that is followed. */
const MAX_RESUMES = 50;
/** Ledger rows read at once. */
const CONCURRENT_ROWS = 10;

/** @param most number of questions, after which no more rows are read */
export async function leftInDoubt(
  deps: RemoveFromInboxDeps,
  {
    run,
    questions,
    most,
  }: { readonly run: RunState; readonly questions: readonly OpenQuestion[]; readonly most: number },
): Promise<LeftQuestions> {
  const open: InboxQuestion[] = [];
  let read = 0;
  while (read < questions.length && open.length < most) {
    const some = questions.slice(read, read + Math.min(CONCURRENT_ROWS, most - open.length));
    read += some.length;
    const found = await Promise.all(some.map((question) => withRow(deps, question)));
    open.push(...found.filter(({ row }) => row === undefined || isInDoubt(row)));
  }
  const more = questions.length - read;
  if (open.length === 0) return { questions: [], more, isKnown: true };
  if (await isResumedByALiveRun(deps, run)) return { questions: [], more: 0, isKnown: false };
  const found = await Promise.all(
    open.map(async (one) => ((await isAskedElsewhere(deps, one)) ? [] : [one])),
  );
  return { questions: found.flat(), more, isKnown: false };
}

/** Adds the row, because only the row has the request, and the called capability if another run of the lineage made the call. */
export async function withRow(
  { effects }: Pick<RemoveFromInboxDeps, 'effects'>,
  question: OpenQuestion,
): Promise<InboxQuestion> {
  const { effectId, capabilityId } = question;
  if (effectId === undefined) return question;
  const record = (await effects.read(effectId))?.record;
  return { ...question, row: record, capabilityId: record?.capabilityId ?? capabilityId };
}

/**
 * Returns true if a live run resolves the effect; if that run ends without doing so, the question returns to this run.
 */
async function isResumedByALiveRun({ store }: RemoveFromInboxDeps, run: RunState): Promise<boolean> {
  let by = run.supersededBy;
  for (let looked = 0; by !== undefined && looked < MAX_RESUMES; looked += 1) {
    const next = await store.load(by);
    if (!next) return false;
    if (!isOver(next.state)) return true;
    by = next.state.supersededBy;
  }
  return false;
}

/** True if a successor of this run asks about the effect: its own question is in the inbox. */
async function isAskedElsewhere({ store }: RemoveFromInboxDeps, { row }: InboxQuestion): Promise<boolean> {
  const other = row?.askedBy === undefined ? undefined : await store.load(row.askedBy);
  return other?.state.waits.some(({ effectId }) => effectId === row?.effectId) ?? false;
}
