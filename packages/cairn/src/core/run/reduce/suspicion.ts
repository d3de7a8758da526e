/**
 * Rules by which a run becomes a suspect and stops being one. Deaths on shared workers are attributed to no run: they
 * only lead to dispatches alone. A death alone counts for the running step, until that step ends. It is also counted
 * regardless of the step, because something that a step leaves behind (a timer) may kill during later steps.
 *
 * Must not: decide that a run ends (decisions/ending-facts.ts).
 */
import { NO_STEP, type RunState, type Suspicion, stepsInFlight, UNDOING } from '../state.ts';

const NOTHING: Suspicion = { times: 0, alone: false, steps: [], deaths: [] };

/**
 * A run that becomes a suspect this many times stays alone until it ends. Otherwise a step whose process dies only after the step
 * has ended would be cleared every time.
 */
const ALONE_FOR_GOOD = 2;

/**
 * Number of bodies that must end alone, without a death between them, before earlier deaths stop counting. High enough that a timer
 * left behind by a step usually fires first (with five, two of 3,000 random crowds lost a sixth process). Low enough to be
 * reached by a run whose workers are occasionally killed from outside.
 */
const QUIET_BODIES = 10;

/**
 * Two process losses (deaths or shutdowns) make the run a suspect if fewer than this many steps ended between them. Steps without a
 * body count too, because on shared workers the journal does not distinguish them.
 */
const QUIET_ENDS = 16;

/**
 * Number of bodies that must end alone before a run that became a suspect by two losses is cleared. The platform may have caused the shutdown, so the run does
 * not stay alone until it ends. One body is not enough, because a body that sends SIGTERM and then succeeds looks harmless.
 */
const QUIET_AFTER_SHUTDOWN = 10;

/**
 * A shutdown of a dispatch alone is attributed to the running body if it comes within this time (ms) of the run's last event, the
 * start of that body. Repeated shutdowns by the platform rarely hit the same body this early each time.
 */
export const SOON_MS = 60_000;

/** A dispatch died. */
export function afterDeath(state: RunState): Pick<RunState, 'suspect'> {
  const before = state.suspect ?? NOTHING;
  const underWay = stepsUnderWay(state);
  return {
    suspect: {
      ...before,
      times: before.times + 1,
      alone: true,
      steps: [...new Set([...before.steps, ...underWay])],
      ...(isAlone(state)
        ? diedAlone(before, underWay[0] ?? NO_STEP)
        : { sinceLoss: 0, ...(before.sinceLoss !== undefined && { quietDue: QUIET_AFTER_SHUTDOWN }) }),
    },
  };
}

/**
 * A dispatch alone releases the run after its bodies have ended. Something they left behind (a timer) may still kill the process
 * before it answers; this becomes known when the queue redelivers its task.
 */
export function afterRelease(state: RunState): Partial<Pick<RunState, 'suspect'>> {
  const { suspect, lease } = state;
  if (!suspect || !lease?.task || !isAlone(state) || !hasRunABody(state)) return {};
  return { suspect: { ...suspect, left: { epoch: lease.epoch, task: lease.task } } };
}

/**
 * The process died between the release and its answer. This counts as a death alone whatever happened to the run since. A run that
 * was cleared in between becomes a suspect again.
 */
export function afterLateDeath({ suspect }: RunState, epoch: number): Partial<Pick<RunState, 'suspect'>> {
  if (suspect?.left?.epoch !== epoch) return {};
  const { left: _, ...before } = suspect;
  return { suspect: { ...before, times: before.times + 1, alone: true, ...diedAlone(before, NO_STEP) } };
}

/**
 * A process was asked to stop, and its dispatch released the run. One shutdown is normal during a deployment. On shared workers the
 * run becomes a suspect if a second loss follows soon, or interrupts the same body: the body may have sent the signal, even if it
 * ended before the process did. For a run that was a suspect before, one shutdown that interrupts bodies is enough to isolate it
 * until they have ended, because that costs an innocent run little.
 */
export function afterShutdown(
  state: RunState,
  { interrupted, at }: { readonly interrupted: readonly string[]; readonly at: number },
): Pick<RunState, 'suspect'> {
  if (isAlone(state)) return { suspect: shutDownAlone(state, interrupted[0], at) };
  const { shutDown: last = [], ...before } = state.suspect ?? NOTHING;
  const isCut = interrupted.length > 0;
  const isAgain = before.sinceLoss !== undefined || interrupted.some((key) => last.includes(key));
  const rest = { ...before, sinceLoss: 0 };
  if (isAgain)
    return {
      suspect: {
        ...rest,
        times: Math.max(1, rest.times),
        alone: true,
        steps: interrupted,
        quietDue: QUIET_AFTER_SHUTDOWN,
      },
    };
  if (isCut && before.times > 0) return { suspect: { ...rest, alone: true, steps: interrupted } };
  return { suspect: { ...rest, ...(isCut && { shutDown: interrupted }) } };
}

/**
 * Nothing else runs in the process, so either the platform or this body sent the signal. Soon after the start of the body the
 * shutdown counts as a death. Later shutdowns are counted separately and fail the run only after many in a row, because a step that
 * takes minutes can meet several deployments. If the body has already ended, it may still be the cause: the run is a suspect again.
 */
function shutDownAlone(state: RunState, step: string | undefined, at: number): Suspicion {
  const before = state.suspect ?? NOTHING;
  if (step === undefined)
    return hasRunABody(state)
      ? { ...before, times: before.times + 1, alone: true, ...diedAlone(before, NO_STEP) }
      : before;
  if (at - state.updatedAt < SOON_MS) return { ...before, ...diedAlone(before, step) };
  const times = before.cutOff?.step === step ? before.cutOff.times : 0;
  return { ...before, cutOff: { step, times: times + 1 } };
}

/** A step has ended and is no longer suspicious. If its body ran alone, the run may be cleared. */
export function afterStep(state: RunState, key: string): Pick<RunState, 'suspect' | 'failures'> {
  const { suspect, failures } = state;
  return {
    ...(failures && { failures: undefined as never }),
    ...(suspect && { suspect: afterStepOf(suspect, state, key) }),
  };
}

/**
 * A compensation succeeded or failed: later shutdowns interrupt another body, and a delay requested by its receiver no longer
 * applies. Only the failure of this step is cleared; failures of whole dispatches remain.
 */
export function afterUndone({ suspect, failures }: RunState): Pick<RunState, 'suspect' | 'failures'> {
  const cleared = failures?.error.stepId !== undefined && { failures: undefined as never };
  if (!suspect?.cutOff) return { ...cleared };
  const { cutOff: _, ...rest } = suspect;
  return { ...cleared, suspect: rest };
}

function afterStepOf(
  { shutDown, inARow, sinceLoss, quietDue = 0, cutOff, ...rest }: Suspicion,
  state: RunState,
  key: string,
): Suspicion {
  const isQuiet = ranAlone(state, key);
  const steps = rest.steps.filter((step) => step !== key);
  const deaths = rest.deaths.filter(({ step }) => step !== key && step !== NO_STEP);
  const left = shutDown?.filter((step) => step !== key) ?? [];
  const quietLeft = Math.max(0, quietDue - (isQuiet ? 1 : 0));
  const isCleared = rest.times < ALONE_FOR_GOOD && steps.length === 0 && isQuiet && quietLeft === 0;
  const endedSince = (inARow?.endedSince ?? 0) + (isQuiet ? 1 : 0);
  return {
    ...rest,
    alone: rest.alone && !isCleared,
    steps,
    deaths,
    ...(inARow && endedSince < QUIET_BODIES && { inARow: { ...inARow, endedSince } }),
    ...(left.length > 0 && { shutDown: left }),
    ...(sinceLoss !== undefined && sinceLoss + 1 < QUIET_ENDS && { sinceLoss: sinceLoss + 1 }),
    ...(quietLeft > 0 && { quietDue: quietLeft }),
    ...(cutOff && cutOff.step !== key && { cutOff }),
  };
}

function ranAlone({ lease, steps }: RunState, key: string): boolean {
  const step = steps.get(key);
  return step?.phase === 'running' && lease?.aloneSince !== undefined && step.seq > lease.aloneSince;
}

/** True if this dispatch began a body; a shutdown before that is no evidence. */
function hasRunABody({ lease, currentStep, steps }: RunState): boolean {
  const newest = currentStep === undefined ? undefined : steps.get(currentStep);
  return newest !== undefined && newest.seq > (lease?.aloneSince ?? 0);
}

function isAlone({ lease }: RunState): boolean {
  return lease?.aloneSince !== undefined;
}

/** Bodies known to be running. In a dispatch alone, this is exact and at most one. */
function stepsUnderWay(state: RunState): readonly string[] {
  const { lease, steps, compensating } = state;
  if (compensating) return [UNDOING];
  const since = lease?.aloneSince ?? 0;
  return stepsInFlight(state).filter((key) => (steps.get(key)?.seq ?? 0) > since);
}

function diedAlone({ deaths, inARow }: Suspicion, step: string): Pick<Suspicion, 'deaths' | 'inARow'> {
  const before = deaths.find((entry) => entry.step === step)?.times ?? 0;
  return {
    deaths: [...deaths.filter((entry) => entry.step !== step), { step, times: before + 1 }],
    inARow: { times: (inARow?.times ?? 0) + 1, step, endedSince: 0 },
  };
}
