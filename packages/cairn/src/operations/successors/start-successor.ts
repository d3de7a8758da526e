/**
 * Creates a successor of an ended run. A start like any other, once per idempotency key. For a resume, the same commit
 * records it in the journal of the source, so that only one of several concurrent resumes succeeds.
 *
 * Must not: reuse anything; the first dispatch of the successor does.
 */
import { seqId } from '../../core/encoding/ids.ts';
import { CairnError } from '../../core/errors.ts';
import { seal } from '../../core/run/chain.ts';
import type { RunEvent } from '../../core/run/events.ts';
import { reduce } from '../../core/run/reduce/index.ts';
import type { RunState } from '../../core/run/state.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { Supersedes } from '../../ports/run-store.ts';
import { knownStart } from '../start/known-start.ts';
import type { Lineage, StartDeps, StartRequest, StartResult } from '../start/request.ts';
import { startRun } from '../start/start-run.ts';
import { assertPermitted } from './assert-permitted.ts';
import { assertNotSuperseded, type Prepared, prepare } from './prepare.ts';
import type { SuccessorRequest } from './request.ts';

/**
 * @throws errors of {@link prepare}, IDEMPOTENCY_KEY_REUSED, PAYLOAD_TOO_LARGE, UNAVAILABLE (send the same
 *   again)
 */
export async function startSuccessor(deps: StartDeps, request: SuccessorRequest): Promise<StartResult> {
  // This precedes the checks, which might refuse the repetition because the first request changed the run.
  const known = await knownStart(deps, request);
  if (known) return known;
  const prepared = await prepare(deps, request);
  await assertPermitted(deps, request, prepared);
  return startRun(deps, startRequest(deps, request, prepared));
}

function startRequest(
  deps: StartDeps,
  request: SuccessorRequest,
  { loaded, workflow, source, input }: Prepared,
): StartRequest {
  const { tenantId, actor, key, requestHash, force, trace } = request;
  const { state } = loaded;
  const lineage: Lineage = {
    ...lineageOf(deps, state, { ...source, ...(force ? { forcedBy: actor } : {}) }, actor),
    ...(input.kind === 'inherited' ? { input } : {}),
  };
  return {
    ...inheritedFrom(state),
    lineage,
    tenantId,
    workflow,
    input: input.kind === 'given' ? input.value : undefined,
    trigger: { source: request.client ?? 'api', userId: actor },
    source: 'api',
    key,
    requestHash,
    threadId: request.threadId ?? state.threadId,
    a2aCorrelationId: request.a2aCorrelationId ?? state.a2aCorrelationId,
    trace,
  };
}

function inheritedFrom({ environment, threadId, repoId, prId, prUrl, a2aCorrelationId }: RunState) {
  return { environment, threadId, repoId, prId, prUrl, a2aCorrelationId };
}

/** @param end the source when it had ended */
export function lineageOf(
  deps: StartDeps,
  end: RunState,
  source: Lineage['source'],
  actor?: string,
): Lineage {
  const isResume = source.mode === 'resume';
  return {
    rootRunId: end.rootRunId,
    source: { ...source, checkpointHead: seqId(end.checkpointHead) },
    effectScopes: end.effectScopes ?? [],
    actor,
    ...(isResume
      ? { resumedFrom: end.id, supersede: (by: string) => supersede(deps, { runId: end.id, by, actor }) }
      : {}),
  };
}

interface Superseding {
  readonly runId: string;
  /** Id of the successor. */
  readonly by: string;
  readonly actor: string | undefined;
}

/** @throws CairnError RUN_TERMINAL_STATE if another run has resumed it, RUN_NOT_FOUND if it was deleted */
async function supersede(deps: StartDeps, { runId, by, actor }: Superseding): Promise<Supersedes | 'done'> {
  const loaded = await sendUntilKnown(deps, () => deps.store.load(runId));
  if (!loaded) throw new CairnError('RUN_NOT_FOUND', 'the run to resume no longer exists', { field: 'id' });
  const { state, metadata, snapshotVersion: seen } = loaded;
  if (state.supersededBy === by) return 'done';
  assertNotSuperseded(state);
  const event = seal(
    {
      type: 'run_superseded',
      initiator: actor === undefined ? 'system' : 'user',
      data: { by },
      actor,
    },
    { chain: state, id: deps.random.token(), now: deps.clock.now() },
  ) as RunEvent<'run_superseded'>;
  return { event, snapshot: reduce(state, event), metadata, seen };
}
