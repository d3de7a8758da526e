/**
 * Decides whether a run can have the requested successor, and prepares it. Only reads.
 *
 * Must not: decide what is reused (engine/successors).
 */
import { sha256Hex } from '../../core/encoding/hash.ts';
import { seqId } from '../../core/encoding/ids.ts';
import { CairnError, invalidInput } from '../../core/errors.ts';
import type { SuccessorSource } from '../../core/run/events.ts';
import { MAX_SCOPES } from '../../core/run/limits.ts';
import { isOver, type RunState } from '../../core/run/state.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { planMissing, workflowOf } from '../../engine/definition-of-run.ts';
import { planChanged } from '../../engine/plans/known-plans.ts';
import { runInput } from '../../engine/run-input.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { LoadedRun } from '../../ports/run-store.ts';
import { loadOwn } from '../append-to-run.ts';
import { checkedInput } from '../start/draft-run.ts';
import type { Lineage, StartDeps } from '../start/request.ts';
import type { WantedSuccessor } from './request.ts';

/** A possible successor. */
export interface Prepared {
  readonly loaded: LoadedRun;
  readonly workflow: Workflow;
  readonly source: SuccessorSource;
  readonly input: SuccessorInput;
}

/** Either the input of the source, wherever it is stored, or a given one. */
type SuccessorInput =
  | ({ readonly kind: 'inherited' } & NonNullable<Lineage['input']>)
  | { readonly kind: 'given'; readonly hash: string; readonly value: unknown };

/**
 * @throws CairnError RUN_NOT_FOUND; INVALID_INPUT for requests that are invalid in any state of the run; RUN_TERMINAL_STATE,
 *   RUN_INVALID_TRANSITION, PLAN_VERSION_UNAVAILABLE, PLAN_CHANGED for those that its current state forbids
 */
export async function prepare(deps: StartDeps, wanted: WantedSuccessor): Promise<Prepared> {
  assertMakesSense(wanted);
  const loaded = await loadOwn(deps, wanted);
  const { state } = loaded;
  assertAllowed(state, wanted);
  const workflow = workflowFor(deps, state, wanted);
  const comparison = await deps.plans.compare(workflow);
  if (typeof comparison === 'object') throw planChanged(comparison);
  const source = await sourceOf(deps, { state, workflow, wanted });
  const input = await inputOf(deps, { state, workflow, wanted });
  return { loaded, workflow, source, input };
}

/** @throws CairnError RUN_TERMINAL_STATE with the run that resumed this one */
export function assertNotSuperseded({ id, status, supersededBy }: RunState): void {
  if (supersededBy === undefined) return;
  throw new CairnError('RUN_TERMINAL_STATE', `run ${id} was already resumed by run ${supersededBy}`, {
    details: { status, supersededBy },
    help: `Use run ${supersededBy}, or replay or fork this run.`,
  });
}

function assertMakesSense({ mode, input, planVersion, threadId }: WantedSuccessor): void {
  if (mode === 'fork') return;
  for (const [field, value] of Object.entries({ input, planVersion, threadId })) {
    if (value === undefined) continue;
    throw invalid(field, `a ${mode} cannot change the work; fork the run instead`);
  }
}

function assertAllowed(state: RunState, { mode }: WantedSuccessor): void {
  const { id, status } = state;
  if (!isOver(state)) {
    throw new CairnError(
      'RUN_INVALID_TRANSITION',
      `run ${id} is ${status}: only a run that has ended can have a ${mode}`,
      { details: { status } },
    );
  }
  if (mode === 'resume') {
    if (status === 'completed') {
      throw new CairnError('RUN_TERMINAL_STATE', `run ${id} is completed: there is nothing to resume`, {
        details: { status },
        help: 'Replay the run to repeat it, or fork it to change it.',
      });
    }
    assertNotSuperseded(state);
  } else if ((state.effectScopes?.length ?? 0) >= MAX_SCOPES) {
    const what = `run ${id} has a lineage of ${MAX_SCOPES} replays and forks, the most allowed`;
    throw new CairnError('RUN_INVALID_TRANSITION', what, { help: 'Start a new run instead.' });
  }
}

function workflowFor({ registry }: StartDeps, state: RunState, wanted: WantedSuccessor): Workflow {
  const { planVersion = state.planVersion } = wanted;
  const workflow = registry.pinned(state.type, planVersion);
  if (workflow && planVersion === state.planVersion && !workflowOf(registry, state)) {
    throw planMissing(registry, state);
  }
  if (workflow) return workflow;
  const versions = registry.versions(state.type).map((version) => version.planVersion);
  throw new CairnError(
    'PLAN_VERSION_UNAVAILABLE',
    `version ${planVersion} of '${state.type}' is not deployed`,
    { field: 'planVersion', details: { planVersion, deployed: versions } },
  );
}

interface PreparedRun {
  readonly state: RunState;
  readonly workflow: Workflow;
  readonly wanted: WantedSuccessor;
}

async function sourceOf(deps: StartDeps, { state, workflow, wanted }: PreparedRun): Promise<SuccessorSource> {
  const { mode, from, signals } = wanted;
  const source = { runId: state.id, mode, signals };
  if (from === undefined) return source;
  if ('step' in from) {
    if (workflow.steps.has(from.step)) return { ...source, stepId: from.step };
    throw invalid('from.step', `'${workflow.type}' has no such step`);
  }
  const { checkpoint: seq } = from;
  const find = () => deps.store.findCheckpoint(state.id, seq);
  const found = seq <= state.head ? await sendUntilKnown(deps, find) : undefined;
  if (!found) throw invalid('from.checkpoint', `run ${state.id} has no checkpoint ${seq}`);
  return { ...source, checkpointId: seqId(seq) };
}

/**
 * Without a new input, a successor refers to the input of its source without copying it. Another version of the plan may parse it
 * differently.
 */
async function inputOf(deps: StartDeps, { state, workflow, wanted }: PreparedRun): Promise<SuccessorInput> {
  const { store } = deps;
  const { input, inputHash: hash, id } = state;
  if (wanted.input) return givenInput(workflow, wanted.input.value);
  if (workflow.planVersion !== state.planVersion) {
    return givenInput(workflow, await sendUntilKnown(deps, () => runInput(store, state)));
  }
  const inherited = { kind: 'inherited', hash, secretInput: state.secretInput, tags: state.tags } as const;
  if ('text' in input) return { ...inherited, value: input };
  const [checkpoint] = await sendUntilKnown(deps, () => store.readCheckpoints(id, [input.checkpoint]));
  return { ...inherited, value: checkpoint?.outputFrom ?? { runId: id, checkpoint: input.checkpoint } };
}

function givenInput(workflow: Workflow, value: unknown): SuccessorInput {
  return { kind: 'given', hash: sha256Hex(checkedInput(workflow, value).text), value };
}

function invalid(field: string, problem: string): CairnError {
  return invalidInput(field, `${field}: ${problem}`);
}
