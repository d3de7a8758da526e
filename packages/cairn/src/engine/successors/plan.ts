/**
 * Reuse plan of a successor, for an existing run (by its dispatch) or a possible one (by a preview).
 *
 * Must not: write anything.
 */
import { type PlannedStep, planSuccessor, type SuccessorPlan } from '../../core/decisions/successor.ts';
import type { SuccessorSource } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { StepDefinition, Workflow } from '../define/steps.ts';
import { hasCompensation } from '../definition-of-run.ts';
import { inputHashSeenBy } from '../run-input.ts';
import { readSource, type SuccessorPoint } from './source-history.ts';

/** The data of a run, existing or possible, that decides about its reuse. */
export interface Successor {
  readonly type: string;
  readonly planVersion: number;
  readonly inputHash: string;
  readonly source: SuccessorSource;
  /** Called only if a step reads a part of the input. */
  readonly input: () => Promise<unknown>;
}

/** @param end the source as it ended */
export async function reusePlan(
  store: RunStore,
  successor: Successor,
  { end, workflow }: { readonly end: RunState; readonly workflow: Workflow },
): Promise<SuccessorPlan> {
  const { source, type, planVersion, inputHash } = successor;
  const history = await readSource(store, end, pointOf(source));
  const { graph } = workflow;
  const steps = graph.order.flatMap((id) => planned(workflow.steps.get(id)));
  const inputHashOf = await inputHashes(successor, workflow);
  const run = { type, planVersion, inputHash, inputHashOf, fromStep: source.stepId, graph, steps };
  return planSuccessor(run, history);
}

async function inputHashes(
  { inputHash, input }: Successor,
  { steps }: Workflow,
): Promise<ReadonlyMap<string, string>> {
  const readers = [...steps.values()].filter(({ reads }) => reads !== undefined);
  if (readers.length === 0) return new Map();
  const value = await input();
  return new Map(readers.map((step) => [step.id, inputHashSeenBy(step, value, inputHash)]));
}

/** A replay repeats everything unless given a starting point; resume and fork continue from the end of their source. */
function pointOf({ mode, checkpointId, stepId }: SuccessorSource): SuccessorPoint {
  if (checkpointId !== undefined) return { checkpoint: Number(checkpointId) };
  return mode === 'replay' && stepId === undefined ? 'start' : 'end';
}

function planned(step: StepDefinition | undefined): PlannedStep[] {
  if (!step) return [];
  const { id, kind, needs, resumable } = step;
  const undoesItems = (kind === 'flow' || kind === 'map') && hasCompensation(step);
  return [{ id, kind, needs, resumable, undoesItems }];
}
