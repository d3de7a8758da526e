/**
 * Decides how a successor continues a child run: if the parent's source had started that child, with a successor of the child, so
 * that its work is not repeated.
 *
 * Must not: start it (other-runs.ts), or decide when it is due.
 */

import { sha256Hex } from '../../core/encoding/hash.ts';
import { childRunId } from '../../core/encoding/ids.ts';
import { CairnError } from '../../core/errors.ts';
import { loopOfPart } from '../../core/flow/parts.ts';
import type { SuccessorMode } from '../../core/run/events.ts';
import { MAX_SCOPES } from '../../core/run/limits.ts';
import { isOver, type RunState } from '../../core/run/state.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { workflowOf } from '../../engine/definition-of-run.ts';
import type { ChildToStart } from '../../engine/deps.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { checkedInput } from '../start/draft-run.ts';
import type { Lineage, StartDeps } from '../start/request.ts';
import { assertAllowed } from './assert-permitted.ts';
import { lineageOf } from './start-successor.ts';

/** Runs checked along a lineage. A longer lineage is one in which nothing ever ended. */
const MAX_LINEAGE = 50;

/**
 * Undefined: a new child must be started, or the child already exists.
 *
 * @throws CairnError UNAVAILABLE while the child to continue has not ended, or its policy could not be evaluated;
 * FORBIDDEN if the policy refuses; INVALID_INPUT, PAYLOAD_TOO_LARGE; what `cancelFormer` throws
 */
export async function childLineage(
  deps: StartDeps,
  child: ChildToStart,
): Promise<{ readonly lineage: Lineage; readonly workflow: Workflow } | undefined> {
  const original = await originalOf(deps, child);
  if (original?.type !== child.type || (original.effectScopes?.length ?? 0) >= MAX_SCOPES) return undefined;
  if (await load(deps, child.wait.child.runId)) return undefined;
  const end = await ended(deps, original, child);
  if (!end) return undefined;
  const pinned = workflowOf(deps.registry, end);
  const workflow = pinned ?? (loopOfPart(end.type) ? undefined : deps.registry.newest(end.type));
  if (!workflow) return undefined;
  const checked = checkedInput(workflow, child.input);
  const isSame = pinned !== undefined && sha256Hex(checked.text) === end.inputHash;
  const mode = isSame ? modeFor(child.parent, end) : 'fork';
  const { source: above, trigger } = child.parent;
  if (above?.forcedBy === undefined) {
    const input = JSON.parse(checked.whole);
    await assertAllowed(deps, { source: end, workflow, mode, actor: trigger.userId, input });
  }
  return {
    lineage: retriedLater(lineageOf(deps, end, { runId: end.id, mode, forcedBy: above?.forcedBy })),
    workflow,
  };
}

/** If the child is being resumed separately, the parent checks again later. */
function retriedLater(lineage: Lineage): Lineage {
  const { supersede } = lineage;
  if (!supersede) return lineage;
  return {
    ...lineage,
    supersede: async (by) => {
      try {
        return await supersede(by);
      } catch (cause) {
        const isTaken = cause instanceof CairnError && cause.code === 'RUN_TERMINAL_STATE';
        throw isTaken ? new CairnError('UNAVAILABLE', cause.message, { cause }) : cause;
      }
    },
  };
}

/** A child that completed, or was resumed separately, cannot be resumed: its work is reused. */
function modeFor({ source }: RunState, end: RunState): SuccessorMode {
  const mode = source?.mode ?? 'fork';
  const resumable = end.status !== 'completed' && end.supersededBy === undefined;
  return mode === 'resume' && !resumable ? 'fork' : mode;
}

/** The child of the same wait in the nearest run of the lineage that opened it. */
async function originalOf(deps: StartDeps, { parent, wait }: ChildToStart): Promise<RunState | undefined> {
  let { source } = parent;
  for (let looked = 0; source && looked < MAX_LINEAGE; looked += 1) {
    const child = await load(deps, childRunId(source.runId, wait.id));
    if (child) return child;
    source = (await load(deps, source.runId))?.source;
  }
  return undefined;
}

/** The newest run of the child, once it has ended; undefined while it continues by itself. */
async function ended(
  deps: StartDeps,
  original: RunState,
  { wait, cancelFormer }: ChildToStart,
): Promise<RunState | undefined> {
  let end = original;
  if (!isOver(end)) {
    if (wait.child.onParentEnd === 'abandon') return undefined;
    await cancelFormer(end.id);
    end = (await load(deps, end.id)) ?? end;
    if (!isOver(end)) {
      const what = `child run ${end.id} of the source run has not ended`;
      throw new CairnError('UNAVAILABLE', what, { details: { childRunId: end.id } });
    }
  }
  for (let looked = 0; end.supersededBy !== undefined && looked < MAX_LINEAGE; looked += 1) {
    const next = await load(deps, end.supersededBy);
    if (!next || !isOver(next)) break;
    end = next;
  }
  return end;
}

/** A temporary read error must not fail the step. @throws CairnError UNAVAILABLE */
async function load(deps: StartDeps, runId: string): Promise<RunState | undefined> {
  return (await sendUntilKnown(deps, () => deps.store.load(runId)))?.state;
}
