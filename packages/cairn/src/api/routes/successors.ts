/**
 * `POST /v1/runs/{id}/resume|replay|fork`: makes a successor of a run that has ended, once per idempotency key, or sets one
 * going that was held up; and `POST /v1/runs/{id}/preview`, which says what that would do.
 */
import { z } from 'zod';
import { apiKey } from '../../core/encoding/keys.ts';
import { CairnError, toProblem } from '../../core/errors.ts';
import { SUCCESSOR_MODES, type SuccessorMode } from '../../core/run/events.ts';
import { MAX_PAYLOAD_BYTES } from '../../core/run/limits.ts';
import { isOver } from '../../core/run/state.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { loadOwn } from '../../operations/outside-append.ts';
import { previewSuccessor } from '../../operations/successors/preview.ts';
import type { Wanted } from '../../operations/successors/request.ts';
import { resumeRun } from '../../operations/successors/resume-run.ts';
import { startSuccessor } from '../../operations/successors/start-successor.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { answerOnce, type Mutation, principalOf, readMutation } from '../mutation.ts';
import type { Turnstile } from '../turnstile.ts';
import { iso } from '../views/values.ts';
import type { RunAddress } from './read-runs.ts';
import { answerFor, THREAD_ID } from './start-run.ts';

/** A larger body waits for its turn, as a start does. */
const LARGE_BODY_BYTES = 1024 * 1024;
/** Above the longest id a step can have. */
const MAX_ID_CHARS = 100;

const from = z
  .union([
    z.strictObject({ step: z.string().min(1).max(MAX_ID_CHARS) }),
    z.strictObject({ checkpoint: z.int().min(1).max(9_999_999_999) }),
  ])
  .optional();
const force = z.boolean().optional();
const signals = z.literal('carry').optional();
const planVersion = z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional();

export const ResumeBody = z.strictObject({ from, force, signals });
export const ReplayBody = z.strictObject({ from, force, signals });
export const ForkBody = z.strictObject({
  from,
  force,
  signals,
  input: z.unknown().optional(),
  planVersion,
  threadId: z.string().regex(THREAD_ID).optional(),
});
export const PreviewBody = z.strictObject({
  mode: z.enum(SUCCESSOR_MODES),
  from,
  signals,
  input: z.unknown().optional(),
  planVersion,
});
type Body = Partial<z.infer<typeof ForkBody>>;

export interface SuccessorCall extends RunAddress {
  readonly request: Request;
  /** Of this instance: where large requests wait for each other. */
  readonly large: Turnstile;
}

export async function resumeFromApi(deps: ApiDeps, caller: Caller, call: SuccessorCall): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(call.request, ResumeBody);
  const { runId } = call;
  const { tenantId } = caller;
  const { state } = await loadOwn(deps.start, { runId, tenantId });
  if (isOver(state) && !(await wasUnparked(deps, caller, mutation.key))) {
    return startedBy(deps, caller, { mode: 'resume', runId, mutation });
  }
  const { from: place, force: isForced, signals: carries } = mutation.body;
  if (place !== undefined || isForced || carries) {
    throw new CairnError(
      'RUN_INVALID_TRANSITION',
      `run ${runId} has not ended: it continues from its current state`,
      {
        details: { status: state.status },
        help: "Leave out 'from', 'force' and 'signals'.",
      },
    );
  }
  return answerOnce(deps, caller, mutation, async () => {
    const resumed = await resumeRun(
      { ...deps.start, registry: deps.registry },
      { runId, tenantId, actor: principalOf(caller) },
    );
    return { status: 200, body: { ...resumed } };
  });
}

/** The run has ended since, but what was asked for under this key was to set it going: that is answered again. */
async function wasUnparked({ start }: ApiDeps, caller: Caller, key: string | undefined): Promise<boolean> {
  if (key === undefined) return false;
  const stored = await sendUntilKnown(start, () => start.records.read(apiKey(principalOf(caller), key)));
  return stored !== undefined && stored.record.runId === undefined;
}

export async function replayFromApi(deps: ApiDeps, caller: Caller, call: SuccessorCall): Promise<Response> {
  assertRole(caller, 'operator');
  const mutation = await readMutation(call.request, ReplayBody);
  return startedBy(deps, caller, { mode: 'replay', runId: call.runId, mutation });
}

export function forkFromApi(deps: ApiDeps, caller: Caller, call: SuccessorCall): Promise<Response> {
  assertRole(caller, 'operator');
  return inTurn(call, async () => {
    const mutation = await readMutation(call.request, ForkBody, MAX_PAYLOAD_BYTES);
    return startedBy(deps, caller, { mode: 'fork', runId: call.runId, mutation });
  });
}

export function previewFromApi(deps: ApiDeps, caller: Caller, call: SuccessorCall): Promise<Response> {
  assertRole(caller, 'operator');
  return inTurn(call, async () => {
    const { body } = await readMutation(call.request, PreviewBody, MAX_PAYLOAD_BYTES);
    const { start, registry, effects, bindings } = deps;
    const wanted = wantedBy(caller, { mode: body.mode, runId: call.runId, body });
    const preview = await previewSuccessor({ ...start, registry, effects, bindings }, wanted);
    const unread = preview.unread.map(({ at, ...signal }) => ({ ...signal, at: iso(at) }));
    return Response.json({ ...preview, unread, blockers: preview.blockers.map(toProblem) });
  });
}

/** One whose length nobody said may be large. */
function inTurn({ request, large }: SuccessorCall, work: () => Promise<Response>): Promise<Response> {
  const length = request.headers.get('content-length');
  const isSmall = length === null ? request.body === null : Number(length) <= LARGE_BODY_BYTES;
  return isSmall ? work() : large.pass(work);
}

interface Successor {
  readonly mode: SuccessorMode;
  readonly runId: string;
  readonly mutation: Mutation<Body>;
}

async function startedBy(
  { start, registry }: ApiDeps,
  caller: Caller,
  { mode, runId, mutation }: Successor,
): Promise<Response> {
  const { key, body, requestHash, trace, client, a2aCorrelationId } = mutation;
  if (body.force) assertRole(caller, 'admin');
  const outcome = await startSuccessor(
    { ...start, registry },
    {
      ...wantedBy(caller, { mode, runId, body }),
      actor: principalOf(caller),
      key: key === undefined ? undefined : apiKey(principalOf(caller), key),
      requestHash,
      client,
      force: body.force === true,
      trace,
      a2aCorrelationId,
    },
  );
  return answerFor(outcome);
}

function wantedBy(
  { tenantId }: Caller,
  { mode, runId, body }: { readonly mode: SuccessorMode; readonly runId: string; readonly body: Body },
): Wanted {
  const { planVersion: version, threadId, signals: carried } = body;
  const input = body.input === undefined ? undefined : { value: body.input };
  return { runId, tenantId, mode, from: body.from, input, planVersion: version, threadId, signals: carried };
}
