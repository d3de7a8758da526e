/** A question as the inbox shows it: enough to answer it there, with a bounded size. */
import { type EffectRecord, RESOLUTIONS } from '../../core/effects/effect.ts';
import { keyOfOwner } from '../../core/effects/external.ts';
import { fromText, iso, isoIf } from '../../core/run/readable.ts';
import { cut } from '../../core/run/records.ts';
import type { InboxQuestion } from '../../operations/inbox/left-in-doubt.ts';
import type { AskingRun } from '../../operations/inbox/read-inbox.ts';
import type { View } from './run.ts';

/** Most characters of a question in the inbox; the run shows the whole text. */
const QUESTION_CHARS = 2_000;
/** Maximum of the details shown with the question, bytes of JSON. */
const MAX_DETAIL_BYTES = 4 * 1024;

export function inboxItems({ run, questions, more }: AskingRun): View[] {
  const { id: runId, type, status, threadId, repoId, prUrl } = run;
  const last = questions.length - 1;
  return questions.map((question, at) => ({
    runId,
    type,
    status,
    threadId,
    repoId,
    prUrl,
    ...questionView(run.status, question),
    // The last question shown of a run has the number of further ones.
    ...(at === last && more > 0 ? { more } : {}),
  }));
}

function questionView(status: string, call: InboxQuestion): View {
  const { kind, step, wait, effectId, capabilityId, openedAt, answers, row } = call;
  const { question, detail, to, isCut } = wait
    ? questionTextOf(wait.detailText)
    : { question: inDoubtText(status, call), detail: undefined, to: undefined, isCut: false };
  const schema = wait?.dataSchemaText;
  return {
    kind,
    step,
    waitId: wait?.id,
    question,
    detail,
    to,
    dataSchema: schema === undefined ? undefined : fromText(schema),
    isCut: isCut || undefined,
    openedAt: iso(openedAt),
    dueAt: isoIf(wait?.dueAt),
    effectId,
    capabilityId,
    request: requestOf(row),
    // For a question about permission, the text has the reason.
    error: row?.blockedBy === 'doubt' ? row.error : undefined,
    attemptedAt: isoIf(attemptedAt(call)),
    answers: [...answers],
  };
}

/** Undefined: no call was made, or only the restored database suggests one. */
function attemptedAt({ kind, row }: InboxQuestion): number | undefined {
  if (row === undefined || row.presumedAt !== undefined) return undefined;
  return kind === 'left_in_doubt' || row.blockedBy === 'doubt' ? (row.calledAt ?? row.createdAt) : undefined;
}

/** The request of the call. Undefined if it is too large for the inbox; the list of the run's effects has it. */
function requestOf(row: InboxQuestion['row']): View[string] {
  const text = row?.requestText;
  return text === undefined || Buffer.byteLength(text) > MAX_DETAIL_BYTES ? undefined : fromText(text);
}

/** The text of the question, and the whole question if it has other members. */
function questionTextOf(detailText: string | undefined): {
  readonly question: string;
  readonly detail: View[string];
  readonly to: View[string];
  readonly isCut: boolean;
} {
  const detail = detailText === undefined ? undefined : fromText(detailText);
  const { question, to, ...beside } = Object(detail) as {
    readonly question?: unknown;
    readonly to?: View[string];
  };
  const text = typeof question === 'string' ? question : JSON.stringify(question ?? detail ?? null);
  const hasMore = typeof question === 'string' && Object.keys(beside).length > 0;
  const fits = Buffer.byteLength(detailText ?? '') <= MAX_DETAIL_BYTES;
  return {
    question: cut(text, QUESTION_CHARS),
    detail: hasMore && fits ? detail : undefined,
    to,
    isCut: text.length > QUESTION_CHARS || (hasMore && !fits),
  };
}

function inDoubtText(status: string, { step, capabilityId, answers }: InboxQuestion): string {
  const what = `Step '${step}' called '${capabilityId}', the run has ended (${status}), and the outcome is unknown. Check with the receiver, and report whether the call took effect.`;
  return answers.includes('resume')
    ? `${what} Or resume the run: its successor looks up the outcome, or asks.`
    : what;
}

/** A question about an effect without a run. */
export function externalQuestion(row: EffectRecord) {
  const { runId, effectId, capabilityId, requestText, askingSince, createdAt, updatedAt } = row;
  return {
    owner: runId,
    key: keyOfOwner(runId),
    effectId,
    capabilityId,
    why: row.blockedBy === 'confirmation' ? ('confirmation' as const) : ('doubt' as const),
    question: questionOf(row),
    request: requestText === undefined ? undefined : (JSON.parse(requestText) as unknown),
    calledAt: iso(updatedAt),
    openedAt: iso(askingSince ?? createdAt),
    answers: RESOLUTIONS,
  };
}

function questionOf({ runId, capabilityId, blockedBy, presumedAt }: EffectRecord): string {
  const what = `'${capabilityId}' for key '${keyOfOwner(runId)}'`;
  if (blockedBy === 'confirmation')
    return `A function is about to call ${what}, which requires confirmation. Allow the call, record the result of a manual action, or forbid it?`;
  if (presumedAt !== undefined)
    return `A function is about to call ${what} and may have called it before the database was restored. Allow the call, record its earlier result, or forbid it?`;
  return `A function called ${what}, and the outcome is unknown. Check with the receiver, then record the result, allow one more call, or forbid it.`;
}
