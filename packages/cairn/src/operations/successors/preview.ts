/**
 * Previews a successor: which steps it would reuse, which it would run and why, and how it would handle their effects.
 * Uses the same decisions and data as the successor itself.
 *
 * Must not: write anything.
 */

import type { StepReuse, SuccessorPlan } from '../../core/decisions/successor.ts';
import {
  type CapabilityFacts,
  type ForecastEffect,
  forecastEffects,
} from '../../core/decisions/successor-effects.ts';
import type { EffectRecord } from '../../core/effects/effect.ts';
import { CairnError } from '../../core/errors.ts';
import type { SuccessorMode } from '../../core/run/events.ts';
import { isOver, type RunState, stepIdOf, type UnreadSignal } from '../../core/run/state.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import { runInput } from '../../engine/run-input.ts';
import { reusePlan } from '../../engine/successors/plan.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { loadOwn } from '../append-to-run.ts';
import { checkedInput } from '../start/draft-run.ts';
import { type Prepared, prepare } from './prepare.ts';
import type { PreviewDeps, WantedSuccessor } from './request.ts';
import { resumptionOf } from './resume-run.ts';

export interface SuccessorForecast {
  readonly runId: string;
  readonly mode: SuccessorMode;
  /** Effect of the request. `unpark`: the run has not ended and is only dispatched again. */
  readonly would: 'start_successor' | 'unpark' | 'nothing';
  readonly planVersion: number;
  readonly steps: readonly StepReuse[];
  readonly effects: readonly ForecastEffect[];
  /** True if more effects were recorded than are shown. */
  readonly effectsCut: boolean;
  /** Unread signals; a successor that carries them reads them. */
  readonly unread: readonly Pick<UnreadSignal, 'signalId' | 'name' | 'key' | 'at'>[];
  readonly blockers: readonly CairnError[];
}

/** Rows of the ledger that are checked: about two megabytes, more than a person reads. */
const MAX_ROWS = 2_000;
const ROWS_PAGE = 100;
/** Runs of a lineage whose rows are checked. */
const MAX_RUNS = 100;

/** @throws CairnError RUN_NOT_FOUND, INVALID_INPUT, UNAVAILABLE. An operation that the state of the run forbids gives a blocker instead */
export async function previewSuccessor(
  deps: PreviewDeps,
  wanted: WantedSuccessor,
): Promise<SuccessorForecast> {
  const { state, readAt } = await loadOwn(deps, wanted);
  const nothing = {
    runId: state.id,
    mode: wanted.mode,
    planVersion: wanted.planVersion ?? state.planVersion,
    steps: [],
    effects: [],
    effectsCut: false,
    unread: state.unread.map(({ signalId, name, key, at }) => ({ signalId, name, key, at })),
  };
  try {
    if (wanted.mode === 'resume' && !isOver(state)) {
      const isStuck = resumptionOf(deps, state, readAt) !== 'moving';
      return { ...nothing, would: isStuck ? 'unpark' : 'nothing', blockers: [] };
    }
    const prepared = await prepare(deps, wanted);
    return {
      ...nothing,
      ...(await forecast(deps, wanted.mode, prepared)),
      would: 'start_successor',
      blockers: [],
    };
  } catch (error) {
    if (!(error instanceof CairnError) || error.httpStatus !== 409) throw error;
    return { ...nothing, would: 'nothing', blockers: [error] };
  }
}

async function forecast(
  deps: PreviewDeps,
  mode: SuccessorMode,
  { loaded, workflow, source, input }: Prepared,
): Promise<Pick<SuccessorForecast, 'steps' | 'effects' | 'effectsCut'>> {
  const { state: end } = loaded;
  const { type, planVersion } = workflow;
  const value = async () =>
    input.kind === 'given'
      ? (JSON.parse(checkedInput(workflow, input.value).whole) as unknown)
      : runInput(deps.store, end);
  const successor = { type, planVersion, inputHash: input.hash, source, input: value };
  const plan = await sendUntilKnown(deps, () => reusePlan(deps.store, successor, { end, workflow }));
  const { rows, cut } = await rowsOfLineage(deps, end);
  const effects = forecastEffects({
    rootRunId: end.rootRunId,
    scopes: end.effectScopes ?? [],
    mode,
    rows,
    revisionOf: revisionsIn(plan),
    capabilityOf: (stepId, capabilityId) => capabilityOf(deps, workflow, { stepId, capabilityId }),
  });
  return { steps: plan.steps, effects, effectsCut: cut };
}

function revisionsIn({ steps, reused }: SuccessorPlan): (key: string) => number | undefined {
  const runs = new Map(steps.flatMap((step) => (step.action === 'runs' ? [[step.id, step.revision]] : [])));
  const items = new Set(reused.map(({ key }) => key));
  return (key) => (items.has(key) ? undefined : runs.get(stepIdOf(key)));
}

function capabilityOf(
  deps: PreviewDeps,
  { steps }: Workflow,
  { stepId, capabilityId }: { readonly stepId: string; readonly capabilityId: string },
): CapabilityFacts | undefined {
  const step = steps.get(stepId);
  const uses = step && 'uses' in step ? step.uses : [];
  const capability = uses.find(({ id }) => id === capabilityId);
  if (!capability) return undefined;
  const { idempotency, replayPolicy, requiresConfirmation = false } = capability;
  const hasLookup = deps.bindings.of(capability).lookup !== undefined;
  return { idempotency, replayPolicy, requiresConfirmation, hasLookup };
}

/** Effects of the source and the runs before it; nearest first, up to the limit. */
async function rowsOfLineage(
  deps: PreviewDeps,
  end: RunState,
): Promise<{ readonly rows: readonly EffectRecord[]; readonly cut: boolean }> {
  const rows: EffectRecord[] = [];
  let run: RunState | undefined = end;
  for (let runs = 0; run; runs += 1) {
    const { id, source }: RunState = run;
    if (runs === MAX_RUNS) return { rows, cut: true };
    for (let cursor: string | undefined; ; ) {
      const page = { limit: ROWS_PAGE, cursor };
      const { items, next } = await sendUntilKnown(deps, () => deps.effects.listOfRun(id, page));
      rows.push(...items);
      if (next === undefined) break;
      if (rows.length >= MAX_ROWS) return { rows, cut: true };
      cursor = next;
    }
    run = source && (await sendUntilKnown(deps, () => deps.store.load(source.runId)))?.state;
  }
  return { rows, cut: false };
}
