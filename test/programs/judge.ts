/** Compares the end of a run with the reference. Throws an error that names the difference. */
import type { RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { isOver, type RunState } from '../../packages/cairn/src/core/run/state.ts';
import type { RunDocuments } from '../../packages/cairn/src/memory/memory-database.ts';
import { inputOf } from './chaos/people.ts';
import {
  bodyOutcome,
  type End,
  type Family,
  type Fate,
  failure,
  type Prediction,
  predict,
} from './data/predict.ts';
import type { ChildPlan, Program, StepPlan } from './data/program.ts';
import { mix, seenResult } from './data/values.ts';
import { isLost } from './family.ts';

export interface Judged {
  readonly program: Program;
  readonly family: Family;
  readonly run: RunDocuments;
  readonly state: RunState;
  /** Value of its last checkpoint. */
  readonly resultText: string | undefined;
  /** True if somebody cancelled it, or if its parent ended and cancelled it. */
  readonly mayBeCancelled: boolean;
  /** True if it may have ended while its definition was not deployed. */
  readonly mayLackPlan: boolean;
}

/** Number of workers, lost while the run was dispatched alone, that end it. */
const POISONOUS = 3;

export function judge({
  program,
  family,
  run,
  state,
  resultText,
  mayBeCancelled,
  mayLackPlan,
}: Judged): End | 'cancelled' | 'orphaned' {
  const prediction = predict(program, inputOf(state), family);
  const end = endOf(state);
  if (end === 'orphaned') assertLost(program, state, run.events);
  else if (end === 'cancelled') expect(mayBeCancelled, 'the run was cancelled, and nobody wanted that');
  else
    expect(prediction.ends.has(end), `the run ended as ${end}, not as ${[...prediction.ends].join(' or ')}`);
  assertSteps(program, state, { prediction, end });
  if (end === 'completed') assertComplete(program, state, prediction, resultText);
  if (end === 'failed') assertCulprit(state, prediction);
  assertUndone({ program, events: run.events, state, end, mayLackPlan });
  return end;
}

function endOf(state: RunState): End | 'cancelled' | 'orphaned' {
  if (!isOver(state)) throw new Error(`the run is ${state.status}`);
  if (state.status === 'completed') return 'completed';
  if (state.status === 'cancelled') {
    if (state.stopKind === 'halt') return 'halted';
    return state.stopKind === 'policy' ? 'denied' : 'cancelled';
  }
  return isLost(state) ? 'orphaned' : 'failed';
}

/** The two ends caused by lost workers: the journal must show the cause. */
function assertLost(program: Program, state: RunState, events: readonly RunEvent[]): void {
  const { code, stepId } = state.error ?? {};
  if (code === 'RUN_RESUME_FAILED') {
    const lost = lostAlone(events);
    expect(lost >= POISONOUS, `the run lost ${lost} workers while it was alone, which is no poison`);
    return;
  }
  if (stepId === undefined) {
    const died = events.some(({ type }) => type === 'orphan_detected');
    expect(state.checkpointHead === 0 && died, 'orphaned without a cause');
    return;
  }
  const plan = program.steps.find(({ id }) => id === stepId);
  expect(plan?.kind === 'step' && !plan.idempotent, `step '${stepId}' may run twice, and yet was in doubt`);
  expect(program.onDoubt === 'fail', 'a person was to be asked');
  expect(
    state.steps.get(stepId)?.phase === 'running',
    `step '${stepId}' was in doubt, and yet it is ${state.steps.get(stepId)?.phase}`,
  );
}

/** Dispatches alone that died, or that were shut down during a body. */
function lostAlone(events: readonly RunEvent[]): number {
  const alone = new Set(
    events.flatMap((event) => (event.type === 'run_claimed' && event.data.alone ? event.data.epoch : [])),
  );
  return events.filter((event) => {
    if (event.type === 'orphan_detected' || event.type === 'worker_lost') return alone.has(event.data.epoch);
    if (event.type !== 'run_released' || event.data.reason !== 'shutdown') return false;
    const epoch = event.writer?.epoch ?? -1;
    // A body that had ended by then may have caused the shutdown.
    const ranABody = events.some(({ type, writer }) => type === 'step_started' && writer?.epoch === epoch);
    return alone.has(epoch) && ((event.data.interrupted?.length ?? 0) > 0 || ranABody);
  }).length;
}

/** Asserts that steps ended as they must, after all their needs. */
function assertSteps(
  program: Program,
  state: RunState,
  { prediction: { passes }, end }: { readonly prediction: Prediction; readonly end: string },
): void {
  for (const plan of program.steps) {
    const isWaitedOut = end !== 'completed' && plan.kind === 'child' && plan.onParentEnd === 'wait';
    const fates = [
      ...passes.flatMap((fates) => fates.get(plan.id) ?? []),
      ...(isWaitedOut ? waitedOut(plan) : []),
    ];
    const step = state.steps.get(plan.id);
    if (step?.phase === 'done') {
      const outcomes = fates.map(({ outcome }) => outcome);
      expect(
        outcomes.includes(step.outcome as never),
        `step '${plan.id}' ${step.outcome}, not ${outcomes.join(' or ') || 'anything'}`,
      );
      if (step.outcome !== 'skipped') assertNeeds(plan, state);
    }
    assertItems(plan, state, fates);
  }
}

/** A run that is ending cancels its child, or each of several, and records the cancellation. */
function waitedOut(plan: ChildPlan): Fate[] {
  const items = Array.from({ length: plan.copies ?? 0 }, () => 'failed' as const);
  const fate = { ...failure(plan), items };
  return plan.copies === undefined ? [fate] : [fate, { ...fate, outcome: 'succeeded' }];
}

function assertNeeds(plan: StepPlan, state: RunState): void {
  for (const need of plan.needs) {
    const step = state.steps.get(need);
    // A need that was sent back may not have ended again when the run did.
    const fine = step?.phase === 'again' || (step && step.revision > 1) || step?.phase === 'done';
    expect(fine, `step '${plan.id}' ended before '${need}'`);
  }
}

function assertItems(plan: StepPlan, state: RunState, fates: readonly Fate[]): void {
  for (const [key, step] of state.steps) {
    if (!key.startsWith(`${plan.id}[`) || step.phase !== 'done') continue;
    const index = Number(key.slice(plan.id.length + 1, -1));
    const wanted = fates.flatMap(({ items }) => items?.[index] ?? []);
    expect(
      wanted.includes(step.outcome as never),
      `item '${key}' ${step.outcome}, not ${wanted.join(' or ')}`,
    );
  }
}

function assertComplete(
  program: Program,
  state: RunState,
  { passes, result }: Prediction,
  resultText = 'null',
): void {
  const fates = passes.at(-1);
  for (const { id } of program.steps) {
    const step = state.steps.get(id);
    const outcome = step?.phase === 'done' ? step.outcome : step?.phase;
    expect(outcome === fates?.get(id)?.outcome, `step '${id}' is ${outcome}, not ${fates?.get(id)?.outcome}`);
  }
  const got = seenResult(program, JSON.parse(resultText));
  const wanted = seenResult(program, result);
  expect(mix(got) === mix(wanted), `the result is ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
}

function assertCulprit({ error }: RunState, { passes }: Prediction): void {
  const culprits = passes.flatMap((fates) =>
    [...fates].flatMap(([id, fate]) => (fate.ends === 'failed' ? id : [])),
  );
  expect(
    culprits.includes(error?.stepId ?? ''),
    `'${error?.stepId}' failed the run, not ${culprits.join(' or ')}`,
  );
}

interface Undone extends Pick<Judged, 'program' | 'state' | 'mayLackPlan'> {
  readonly events: readonly RunEvent[];
  readonly end: string;
}

/**
 * Every completed step with a compensation is undone once, the last first, even if steps were sent back since. A run that
 * completes undoes nothing.
 */
function assertUndone({ program, events, state, end, mayLackPlan }: Undone): void {
  const plans = new Map(program.steps.map((plan) => [plan.id, plan]));
  const wanted: string[] = [];
  for (const event of end === 'completed' ? [] : events.toReversed()) {
    if (event.type !== 'step_succeeded' && event.type !== 'step_degraded') continue;
    const { stepId, itemKey } = event.data;
    const plan = plans.get(stepId);
    if (!plan || !('compensate' in plan) || !plan.compensate) continue;
    if (plan.kind === 'map' && itemKey === undefined) continue;
    const key = itemKey === undefined ? stepId : `${stepId}[${itemKey}]`;
    wanted.push(`${key} ${bodyOutcome(plan.compensate) === 'succeeded' ? 'compensated' : 'failed'}`);
  }
  const found = state.compensationLog.map(({ stepId, outcome }) => `${stepId} ${outcome}`);
  const left = events.flatMap((event) =>
    event.type === 'run_cancelled' ? (event.data.notUndone?.steps ?? []) : [],
  );
  if (left.length > 0) {
    expect(
      lostAlone(events) >= POISONOUS,
      'it was cancelled without being undone, and did not kill its workers',
    );
    const owed = wanted.slice(found.length).map((line) => line.split(' ')[0]);
    expect(left.join() === owed.join(), `it says that [${left.join()}] was not undone, not [${owed.join()}]`);
  }
  // The compensation of a run whose workers were lost may have been given up.
  const isGivenUp = left.length > 0 || (mayLackPlan && end === 'orphaned');
  const given = isGivenUp ? found.length : wanted.length;
  expect(
    found.join() === wanted.slice(0, given).join(),
    `undone was [${found.join()}], not [${wanted.join()}]`,
  );
  // A child may report its end while its parent is undone: the child began before.
  const own = events.map(({ type, writer }) => (writer ? type : undefined));
  const lastDone = own.findLastIndex((type) => type === 'step_succeeded' || type === 'step_degraded');
  const firstUndone = own.indexOf('step_compensated');
  expect(firstUndone < 0 || firstUndone > lastDone, 'a step was done after others had been undone');
}

function expect(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}
