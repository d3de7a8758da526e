/**
 * Operations of a dispatch on other runs: starts and cancels children, and notifies the parent of its run's end. All are
 * idempotent: the parent chooses the id of a child, and a parent's wait is answered once.
 *
 * Must not: decide when any of it is due; the engine does.
 */

import { sha256Hex } from '../core/encoding/hash.ts';
import { CairnError } from '../core/errors.ts';
import { loopOfPart } from '../core/flow/parts.ts';
import type { RecordedError, Wait } from '../core/run/events.ts';
import { cut } from '../core/run/records.ts';
import { type RunState, stepKey } from '../core/run/state.ts';
import { runSpan } from '../core/trace.ts';
import type { WorkflowRegistry } from '../engine/define/registry.ts';
import { planMissing, workflowOf } from '../engine/definition-of-run.ts';
import type { ChildToStart, OtherRuns } from '../engine/deps.ts';
import { driveAfter } from '../engine/drive-after.ts';
import { onOtherRun } from '../engine/other-run.ts';
import { type Output, outputFrom, storeIfLarge } from '../engine/recording/output.ts';
import { storedText } from '../engine/stored-text.ts';
import { answerDrafts, refusalDrafts, resumptionDrafts } from '../engine/waits/end-of-wait.ts';
import { StoreRefused } from '../ports/store-errors.ts';
import { appendToRun } from './append-to-run.ts';
import { cancelRun } from './cancel-run.ts';
import type { StartDeps } from './start/request.ts';
import { startRun } from './start/start-run.ts';
import { childLineage } from './successors/child-successor.ts';

/** Longest error message of a step whose outcome the store refuses. */
const MAX_REFUSAL_CHARS = 500;

export function otherRuns(deps: StartDeps): OtherRuns {
  return {
    startChild: (child) => startChild(deps, child),
    cancelChild: (parent, runId) => cancelChild(deps, parent, runId),
    notifyParent: (state) => onOtherRun(notifyParent(deps, state)),
  };
}

async function startChild(deps: StartDeps, child: ChildToStart): Promise<void> {
  const { parent, wait, type, input } = child;
  const isPart = loopOfPart(type) !== undefined;
  // The inner run of a loop uses exactly the version of the loop.
  const workflow = isPart ? deps.registry.pinned(type, parent.planVersion) : deps.registry.newest(type);
  const { runId } = wait.child;
  if (!workflow)
    throw new CairnError(
      'PLAN_VERSION_UNAVAILABLE',
      `no version of the child's workflow '${type}' is deployed`,
      {
        stepId: wait.execution.stepId,
        details: { type },
      },
    );
  const { tenantId, environment, trigger, threadId, repoId, prId, prUrl, a2aCorrelationId } = parent;
  const successor = parent.source && (await childLineage(deps, child));
  const isTaken = successor && !(isPart && successor.workflow !== workflow);
  // A start that finds the existing run has the same outcome.
  await startRun(deps, {
    runId,
    parent: {
      runId: parent.id,
      stepId: stepKey(wait.execution),
      topRunId: parent.parent?.topRunId ?? parent.parent?.runId ?? parent.id,
    },
    tenantId,
    environment,
    workflow: isTaken ? successor.workflow : workflow,
    input,
    lineage: isTaken ? successor.lineage : undefined,
    trigger,
    source: 'api',
    key: undefined,
    requestHash: sha256Hex(runId),
    threadId,
    trace: runSpan(parent),
    repoId,
    prId,
    prUrl,
    a2aCorrelationId,
  });
}

/** Does nothing for a child that has ended or was never started. */
async function cancelChild(deps: StartDeps, { id, tenantId }: RunState, runId: string): Promise<void> {
  try {
    await cancelRun(deps, {
      runId,
      tenantId,
      stopKind: 'system',
      reason: `its parent ${id} no longer needs it`,
    });
  } catch (error) {
    if (!isOneOf(error, 'RUN_TERMINAL_STATE', 'RUN_NOT_FOUND')) throw error;
  }
}

/** The outcome of a child becomes the outcome of the step that waits for it. */
async function notifyParent(deps: StartDeps, child: RunState): Promise<void> {
  const { parent } = child;
  if (!parent) return;
  try {
    await settleParent(deps, child, await outcomeOf(deps, child, parent.runId));
  } catch (error) {
    if (!(error instanceof StoreRefused) || error.reason !== 'request') throw error;
    // The store may accept a failure of the step instead. The parent is then compensated as after any failure.
    deps.log.warn('child_outcome_refused', { runId: child.id, parent: parent.runId, error });
    await settleParent(deps, child, {
      code: 'RUN_UNWRITABLE',
      message: cut(
        `the store refuses the outcome of child run ${child.id}: ${error.message}`,
        MAX_REFUSAL_CHARS,
      ),
      retryable: false,
    });
  }
}

type ChildOutcome = Output | Omit<RecordedError, 'stepId'>;

async function outcomeOf(deps: StartDeps, child: RunState, parentId: string): Promise<ChildOutcome> {
  if (child.status !== 'completed' || child.result === undefined) return errorOf(child);
  const text = await storedText(deps.store, child.id, child.result);
  return storeIfLarge(deps.store, parentId, outputFrom(text));
}

async function settleParent(
  deps: StartDeps,
  { id, parent, tenantId }: RunState,
  outcome: ChildOutcome,
): Promise<void> {
  if (!parent) return;
  const decide = (state: RunState, now: number) => {
    const wait = state.waits.find((open) => open.child?.runId === id);
    if (!wait) return [];
    const end = { step: stepOf(deps.registry, state, wait), wait, now };
    const answer = { initiator: 'system' as const };
    const drafts =
      'code' in outcome
        ? refusalDrafts(end, answer, { ...outcome, stepId: wait.execution.stepId })
        : answerDrafts(end, answer, outcome);
    return [...drafts, ...resumptionDrafts(state, `child ${id} has ended`)];
  };
  try {
    await driveAfter(deps, await appendToRun(deps, { runId: parent.runId, tenantId, decide }));
  } catch (error) {
    // The parent was deleted.
    if (!isOneOf(error, 'RUN_NOT_FOUND')) throw error;
    deps.log.warn('parent_gone', { runId: id, parent: parent.runId });
  }
}

function stepOf(registry: WorkflowRegistry, state: RunState, { execution }: Wait) {
  const step = workflowOf(registry, state)?.steps.get(execution.stepId);
  if (step) return step;
  throw planMissing(registry, state);
}

function errorOf({ id, status, error }: RunState): Omit<RecordedError, 'stepId'> {
  const code = status === 'cancelled' ? 'CHILD_CANCELLED' : 'CHILD_FAILED';
  return {
    code,
    // Lists show only the beginning, so the original cause comes first.
    message: `${error === undefined ? `${status} in` : causeOf(error)} child run ${id}`,
    retryable: false,
  };
}

/** The message of a nested child already has the cause and the runs below it, so its code is omitted. */
function causeOf({ code, message }: RecordedError): string {
  return code === 'CHILD_FAILED' ? `${message} of` : `${code}: ${message}, in`;
}

function isOneOf(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof CairnError && codes.includes(error.code);
}
