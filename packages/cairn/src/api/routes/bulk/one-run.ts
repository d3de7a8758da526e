/** The change of one run within a change of many: calls the handler of its own route, and converts the response to an outcome. */
import type { z } from 'zod';
import { requestHash } from '../../../core/encoding/fingerprint.ts';
import { sha256Hex } from '../../../core/encoding/hash.ts';
import { isRunId } from '../../../core/encoding/ids.ts';
import type { Json } from '../../../core/encoding/json.ts';
import { CairnError, type ProblemJson, toProblem } from '../../../core/errors.ts';
import { asOurs, problemResponse } from '../../../http/problem.ts';
import { loadOwn, runNotFound } from '../../../operations/append-to-run.ts';
import { previewChange } from '../../../operations/bulk/preview-change.ts';
import { approvalOf, type NamedQuestion } from '../../../operations/bulk/question.ts';
import type { BulkTarget } from '../../../operations/bulk/target.ts';
import type { Progress } from '../../../operations/once-per-key.ts';
import { answerOnce } from '../../mutation.ts';
import type { BulkReport } from '../../openapi/schemas/bulk.ts';
import { handleChange, type MutationCall } from '../../route.ts';
import { cancel, decide } from '../act-on-run.ts';
import { runOf } from '../own-run.ts';
import { replay, resume } from '../successors.ts';

export type BulkSent = MutationCall<'POST /v1/runs/bulk'>;
export type Result = z.input<typeof BulkReport>['results'][number];

/** Length of a question's hash in the idempotency key of its decision. */
const QUESTION_DIGITS = 16;
/** Response statuses after which the same request may have another outcome. */
const PASSING: ReadonlySet<number> = new Set([202, 429, 503]);

/** @param call `requestId` is the same for every attempt of the request */
export async function changeOne(
  call: BulkSent & { readonly requestId: string },
  target: BulkTarget,
): Promise<Result> {
  const answer = await responseOf(call, target).catch((error: unknown) =>
    problemResponse(error, call.deps.log),
  );
  const body: unknown = await answer.json();
  if (answer.status >= 400) return failed(target, body as ProblemJson);
  if (answer.status === 202) return failed(target, inProgress());
  return { ...target, outcome: 'done', answer: body as Result['answer'] };
}

export async function previewOne({ deps, caller, body }: BulkSent, target: BulkTarget): Promise<Result> {
  try {
    const { act } = body;
    const { question, ...would } = await previewChange(deps, { act, tenantId: caller.tenantId, target });
    return { ...target, ...question, outcome: 'possible', would };
  } catch (error) {
    return failed(target, toProblem(asOurs(error)));
  }
}

/** The outcome of a run that the request did not reach. */
export function notReached(target: BulkTarget): Result {
  return failed(
    target,
    toProblem(new CairnError('UNAVAILABLE', 'the time of the request was up before this run')),
  );
}

function inProgress(): ProblemJson {
  return toProblem(new CairnError('UNAVAILABLE', 'the same change of this run is in progress'));
}

function failed(target: BulkTarget, problem: ProblemJson): Result {
  return { ...target, outcome: PASSING.has(problem.status) ? 'retry' : 'failed', problem };
}

async function responseOf(
  call: BulkSent & { readonly requestId: string },
  target: BulkTarget,
): Promise<Response> {
  const { act, reason, note } = call.body;
  const { runId } = target;
  // An invalid id must not become part of a key.
  if (!isRunId(runId)) throw runNotFound();
  const one = {
    ...call,
    params: { id: runId },
    query: {},
    key: keyOf(call, target),
    requestHash: requestHash(`POST /v1/runs/bulk ${act}`, { reason, note }),
  };
  switch (act) {
    case 'cancel':
      return handleChange(cancel, { ...one, body: { reason } });
    case 'resume':
      return handleChange(resume, { ...one, body: {} });
    case 'replay':
      return handleChange(replay, { ...one, body: {} });
    case 'approve':
      return approve({ ...one, requestId: call.requestId }, target);
  }
}

type ApproveCall = BulkSent & { readonly params: { readonly id: string }; readonly requestId: string };

async function approve(call: ApproveCall, target: BulkTarget): Promise<Response> {
  const { params, body } = call;
  await loadOwn(call.deps, runOf(call));
  return answerOnce(call, async (requestId, progress) => {
    const { stepId, waitId } = await questionFor(call, target, progress);
    return decide.work(
      { ...call, params: { ...params, stepId }, body: { decision: 'approve', waitId, note: body.note } },
      requestId,
      progress,
    );
  });
}

/**
 * The question to answer. It is looked up once and recorded before it is answered, so that a repetition does not answer a later
 * question.
 */
async function questionFor(
  call: ApproveCall,
  target: BulkTarget,
  { before, keep }: Progress,
): Promise<NamedQuestion> {
  if (before !== undefined) return before as unknown as NamedQuestion;
  const { state, readAt } = await loadOwn(call.deps, runOf(call));
  const question = approvalOf(state, call.deps, { target, now: readAt });
  if (target.stepId === undefined || target.waitId === undefined) await keep({ ...question } as Json);
  return question;
}

/** Idempotency key of the change of one run: the same within a batch, and for repetitions of one request. */
function keyOf(
  { body: { batch }, key, requestId }: BulkSent & { readonly requestId: string },
  { runId, stepId, waitId }: BulkTarget,
): string | undefined {
  if (batch === undefined && key === undefined) return undefined;
  const isNamed = stepId !== undefined || waitId !== undefined;
  const question = isNamed ? `:${sha256Hex(`${stepId}:${waitId}`).slice(0, QUESTION_DIGITS)}` : '';
  return `bulk:${batch ?? requestId}:${runId}${question}`;
}
