/**
 * `POST /v1/runs/{id}/resume|replay|fork`: creates a successor of an ended run, once per idempotency key; `resume` also
 * continues a blocked live run. `POST /v1/runs/{id}/preview` returns what the request would do.
 */
import type { z } from 'zod';
import { decideExisting } from '../../core/decisions/idempotency.ts';
import { apiKey } from '../../core/encoding/idempotency-keys.ts';
import { CairnError, toProblem } from '../../core/errors.ts';
import type { SuccessorMode } from '../../core/run/events.ts';
import { MAX_PAYLOAD_BYTES } from '../../core/run/limits.ts';
import { iso } from '../../core/run/readable.ts';
import { isOver } from '../../core/run/state.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { loadOwn } from '../../operations/append-to-run.ts';
import { previewSuccessor } from '../../operations/successors/preview.ts';
import type { WantedSuccessor } from '../../operations/successors/request.ts';
import { resumeRun } from '../../operations/successors/resume-run.ts';
import { startSuccessor } from '../../operations/successors/start-successor.ts';
import { assertRole } from '../auth.ts';
import { answerOnce } from '../mutation.ts';
import type { ForkBody } from '../openapi/schemas/bodies.ts';
import type { DirectChangeHandler, MutationCall } from '../route.ts';
import { runOf } from './own-run.ts';
import { answerFor } from './start-run.ts';

type ForkContent = Partial<z.infer<typeof ForkBody>>;

export const resume: DirectChangeHandler<'POST /v1/runs/{id}/resume'> = {
  async answer(call) {
    const { deps, body } = call;
    const run = runOf(call);
    const { state } = await loadOwn(deps, run);
    if (isOver(state) && !(await wasContinued(call))) return startedBy(call, 'resume');
    if (body.from !== undefined || body.force || body.signals) {
      throw new CairnError(
        'RUN_INVALID_TRANSITION',
        `run ${run.runId} has not ended: it continues from its current state`,
        { details: { status: state.status }, help: "Leave out 'from', 'force' and 'signals'." },
      );
    }
    return answerOnce(call, async () => {
      const resumed = await resumeRun(deps, run).catch(asToRepeat);
      return { status: 200, body: { ...resumed } };
    });
  },
};

/** True if the first request under this key unblocked the run. The run has ended since, and that response is repeated. */
async function wasContinued({
  deps,
  caller,
  key,
  requestHash,
}: MutationCall<'POST /v1/runs/{id}/resume'>): Promise<boolean> {
  if (key === undefined) return false;
  const stored = await sendUntilKnown(deps, () => deps.records.read(apiKey(caller.principal, key)));
  if (!stored || stored.record.runId !== undefined) return false;
  const repeated = { tenantId: caller.tenantId, requestHash, now: deps.clock.now() };
  const { kind } = decideExisting(stored.record, repeated);
  // An attempt that failed has no response. This one finds the run ended, and creates a successor.
  return kind === 'replay' || kind === 'in_flight';
}

/** The run ended after it was read, so the same request now creates a successor. The refusal must not be kept under its key. */
function asToRepeat(error: unknown): never {
  if (!(error instanceof CairnError) || error.code !== 'RUN_TERMINAL_STATE') throw error;
  throw new CairnError('UNAVAILABLE', error.message, { cause: error });
}

export const replay: DirectChangeHandler<'POST /v1/runs/{id}/replay'> = {
  answer: (call) => startedBy(call, 'replay'),
};

export const fork: DirectChangeHandler<'POST /v1/runs/{id}/fork'> = {
  maxBodyBytes: MAX_PAYLOAD_BYTES,
  waitsIfLarge: true,
  answer: (call) => startedBy(call, 'fork'),
};

export const preview: DirectChangeHandler<'POST /v1/runs/{id}/preview'> = {
  maxBodyBytes: MAX_PAYLOAD_BYTES,
  waitsIfLarge: true,
  async answer(call) {
    const wanted = wantedBy(call, call.body.mode);
    const previewed = await previewSuccessor(call.deps, wanted);
    const unread = previewed.unread.map(({ at, ...signal }) => ({ ...signal, at: iso(at) }));
    return { ...previewed, unread, blockers: previewed.blockers.map(toProblem) };
  },
};

/** Union of the members of all four bodies. */
type SuccessorCall = Omit<MutationCall<'POST /v1/runs/{id}/fork'>, 'body' | 'query'> & {
  readonly body: ForkContent;
};

async function startedBy(call: SuccessorCall, mode: SuccessorMode): Promise<Response> {
  const { deps, caller, key, body, requestHash, trace, client, a2aCorrelationId } = call;
  if (body.force) assertRole(caller, 'admin');
  const outcome = await startSuccessor(deps, {
    ...wantedBy(call, mode),
    actor: caller.principal,
    key: key === undefined ? undefined : apiKey(caller.principal, key),
    requestHash,
    client,
    force: body.force === true,
    trace,
    a2aCorrelationId,
  });
  return answerFor(outcome);
}

function wantedBy(
  { caller, params, body }: Pick<SuccessorCall, 'caller' | 'params' | 'body'>,
  mode: SuccessorMode,
): WantedSuccessor {
  const { planVersion, threadId, signals, from } = body;
  const input = body.input === undefined ? undefined : { value: body.input };
  return { runId: params.id, tenantId: caller.tenantId, mode, from, input, planVersion, threadId, signals };
}
