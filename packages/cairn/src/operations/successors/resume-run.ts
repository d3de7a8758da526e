/**
 * Resumes a live run: continues it if it was interrupted or blocked or a wait is due; otherwise the error names what the run waits
 * for. An ended run needs a successor (start-successor.ts).
 *
 * Must not: answer a wait.
 */
import { isBackingOff } from '../../core/decisions/claim.ts';
import { recoveryDecision } from '../../core/decisions/recovery.ts';
import type { Json } from '../../core/encoding/json.ts';
import { CairnError } from '../../core/errors.ts';
import type { EventDraft, Wait } from '../../core/run/events.ts';
import { awaitedText, waitsFor } from '../../core/run/now/waits-for.ts';
import { isOver, type RunState, stepKey } from '../../core/run/state.ts';
import type { RunStatus } from '../../core/run/status.ts';
import { isBlocked, isDue } from '../../core/run/wake.ts';
import { deployedFor, planMissing } from '../../engine/definition-of-run.ts';
import { driveAfter } from '../../engine/drive-after.ts';
import { appendToRun, type RunOfTenant } from '../append-to-run.ts';
import type { StartDeps } from '../start/request.ts';

interface ResumeRequest extends RunOfTenant {
  readonly actor: string;
}

export interface Resumed {
  readonly runId: string;
  readonly status: RunStatus;
  /** `resumed`: a dispatch was enqueued. `moving`: the run was not blocked. */
  readonly outcome: 'resumed' | 'moving';
}

/**
 * @throws CairnError RUN_NOT_FOUND, RUN_TERMINAL_STATE (the run has ended), RUN_INVALID_TRANSITION (with what it waits for),
 *   PLAN_VERSION_UNAVAILABLE, PLAN_CHANGED (the plan is still not deployed), UNAVAILABLE
 */
export async function resumeRun(deps: StartDeps, request: ResumeRequest): Promise<Resumed> {
  const { runId, tenantId, actor } = request;
  let isPutOff = false;
  const decide = (state: RunState, now: number) => {
    const resumption = resumptionOf(deps, state, now);
    isPutOff = resumption === 'put_off';
    return resumeDrafts(resumption, actor);
  };
  const appended = await appendToRun(deps, { runId, tenantId, decide });
  // An interrupted run is enqueued without an event, because its dispatch makes the other decisions.
  await driveAfter(deps, appended, isPutOff ? { skipsBackoff: true } : {});
  const { status } = appended.state;
  const wasStuck = appended.events.length > 0 || status === 'interrupted' || isPutOff;
  return { runId, status, outcome: wasStuck ? 'resumed' : 'moving' };
}

/**
 * `by_drive`: the run was interrupted, and its dispatch decides how to continue. `put_off`: it is delayed after a failed dispatch, such
 * as one that could not evaluate its policy. `moving`: it is not blocked.
 */
type Resumption = 'resumed_by_event' | 'by_drive' | 'put_off' | 'moving';

function resumeDrafts(resumption: Resumption, actor: string): EventDraft[] {
  if (resumption !== 'resumed_by_event') return [];
  const reason = `requested by ${actor}`;
  return [{ type: 'run_resumed', initiator: 'user', actor, data: { reason } }];
}

/**
 * Predicts a resume of a run that has not ended.
 *
 * @param now the store's time, epoch ms
 * @throws CairnError if the resume is not possible
 */
export function resumptionOf(
  { registry }: Pick<StartDeps, 'registry'>,
  state: RunState,
  now: number,
): Resumption {
  const { id, status } = state;
  if (isOver(state)) {
    throw new CairnError('RUN_TERMINAL_STATE', `run ${id} has meanwhile ended as ${status}`, {
      details: { status },
      help: 'Send the request again to create a successor.',
    });
  }
  if (state.suspension) {
    throw new CairnError('RUN_INVALID_TRANSITION', `run ${id} is suspended: ${state.suspension.reason}`, {
      help: 'Continue it: POST /v1/runs/{id}/continue, or `cairn runs continue`.',
    });
  }
  const deployed = deployedFor(registry, state);
  if (status === 'interrupted') {
    assertNothingOpen(state, isQuestion);
    if (!deployed.available) throw planMissing(registry, state);
    return recoveryDecision(state, deployed).kind === 'resume' ? 'resumed_by_event' : 'by_drive';
  }
  // While a dispatch works on other branches, only questions to people can hold up the run.
  if (state.lease && waitsFor(state) !== undefined) assertNothingOpen(state, isQuestion);
  if (status !== 'awaiting_approval' && status !== 'waiting_external')
    return isBackingOff(state, { now, deployed }) ? 'put_off' : 'moving';
  if (!continuesByItself(state, now)) assertNothingOpen(state, () => true);
  if (!deployed.available) throw planMissing(registry, state);
  return 'resumed_by_event';
}

/** True for a waiting run that only needs a dispatch: it is blocked on deployment, or a wait is due. */
function continuesByItself(state: RunState, now: number): boolean {
  return isBlocked(state) || isDue(state, now);
}

function isQuestion({ kind }: Wait): boolean {
  return kind === 'approval';
}

/** @throws CairnError naming the decisions, events and times that are missing */
function assertNothingOpen({ id, status, waits }: RunState, counts: (wait: Wait) => boolean): void {
  const open = waits.filter(counts);
  const [first] = open;
  if (!first) return;
  const key = stepKey(first.execution);
  const others = open.length > 1 ? `, and ${open.length - 1} more` : '';
  throw new CairnError(
    'RUN_INVALID_TRANSITION',
    `run ${id} waits for ${awaitedText(first)} in step '${key}'${others}`,
    {
      stepId: key,
      details: { status, waits: open.map(waitView) },
      help: first.kind === 'approval' ? decideIt(id, first) : HELP[first.kind],
    },
  );
}

/** An effect is resolved; all other questions are decided. */
function decideIt(id: string, { effectId, execution }: Wait): string {
  return effectId === undefined
    ? `Decide it: POST /v1/runs/${id}/approvals/${stepKey(execution)}.`
    : `Resolve the effect: POST /v1/runs/${id}/effects/${effectId}/resolve.`;
}

const HELP = {
  event: 'Send the event, signal the run, or cancel it.',
  timer: 'The run continues by itself at that time.',
  child: 'The run continues by itself when the child run has ended.',
} as const;

function waitView({ id, kind, execution, name, key, child }: Wait): Json {
  return { waitId: id, kind, stepId: stepKey(execution), name, key, childRunId: child?.runId };
}
