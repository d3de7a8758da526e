/**
 * Rules by which a run becomes a suspect and stops being one. Deaths on shared workers are attributed to no run: they
 * only lead to dispatches alone. A death alone counts for the running step, until that step ends. It is also counted
 * regardless of the step, because something that a step leaves behind (a timer) may kill during later steps.
 *
 * Must not: decide that a run ends (decisions/end-facts.ts).
 */
import { NO_STEP, type RunState, type Suspicion, stepsInFlight, UNDOING } from '../state.ts';

const NOTHING: Suspicion = { times: 0, alone: false, steps: [], deaths: [] };

/** From this time on a suspect stays alone until it ends: what kills later than its step would pass as harmless again and again. */
const ALONE_FOR_GOOD = 2;

/**
 * So many bodies that ended alone without a death between them say that the deaths before were not the run's. More than a
 * timer that a step left behind usually outlives (with five, two of 3,000 drawn crowds lost a sixth process); few enough that a
 * run whose workers are killed from outside now and then gets there.
 */
const QUIET_BODIES = 10;

/**
 * A process that is lost (it dies, or is shut down) within so many ends of steps after another one makes both suspicious. Ends
 * of steps without a body count too: in company the journal does not tell them apart.
 */
const QUIET_ENDS = 16;

/**
 * So many bodies have to end alone after that. A shutdown may be the platform's, so the run is not alone for good; a body that
 * sends SIGTERM and then ends well looks harmless each time, so one is not enough.
 */
const QUIET_AFTER_SHUTDOWN = 10;

/**
 * A shutdown alone is blamed on the body if it comes so soon after the last event of the run, which is the beginning of that
 * body. A platform that shuts down again and again seldom meets the same body so soon each time.
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
 * A dispatch alone lets go of the run with its bodies ended. What these left behind (a timer) may kill the process before it has
 * answered, and only then is that known: the queue delivers its task again.
 */
export function afterLettingGo(state: RunState): Partial<Pick<RunState, 'suspect'>> {
  const { suspect, lease } = state;
  if (!suspect || !lease?.task || !isAlone(state) || !hasRunABody(state)) return {};
  return { suspect: { ...suspect, left: { epoch: lease.epoch, task: lease.task } } };
}

/** It did. A death alone, whatever became of the run meanwhile; a run that was cleared for the bodies that had ended is a suspect again. */
export function afterLateDeath({ suspect }: RunState, epoch: number): Partial<Pick<RunState, 'suspect'>> {
  if (suspect?.left?.epoch !== epoch) return {};
  const { left: _, ...before } = suspect;
  return { suspect: { ...before, times: before.times + 1, alone: true, ...diedAlone(before, NO_STEP) } };
}

/**
 * A process was asked to end, and the drive let go of the run. Once is the normal course of a deployment. In company, a second
 * loss soon after another one, or with the same body cut off, makes a suspect: the body may have sent the signal, also one that
 * ended before its process did. Of a run that was a suspect before, one that cuts bodies off is enough to have it alone
 * until they have ended, which costs an innocent one little.
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
 * Nothing else runs in the process, so whatever sent the signal was the platform or this body. Soon after the body began it
 * counts as a death. Later it is counted apart, and ends only a run whose body is cut off many times in a row: a step that takes
 * minutes meets several deployments. A body that has ended by then is no proof of innocence, so the run is a suspect again.
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

/** A step has ended. It is no reason for suspicion any more; one whose body ran alone may end the suspicion. */
export function afterStep(state: RunState, key: string): Pick<RunState, 'suspect' | 'failures'> {
  const { suspect, failures } = state;
  return {
    ...(failures && { failures: undefined as never }),
    ...(suspect && { suspect: afterStepOf(suspect, state, key) }),
  };
}

/** A step was undone, or could not be: shutdowns no longer meet the same body. */
export function afterUndone({ suspect }: RunState): Pick<RunState, 'suspect'> {
  if (!suspect?.cutOff) return {};
  const { cutOff: _, ...rest } = suspect;
  return { suspect: rest };
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

/** True if this dispatch began a body; one that was shut down before that tells nothing. */
function hasRunABody({ lease, currentStep, steps }: RunState): boolean {
  const newest = currentStep === undefined ? undefined : steps.get(currentStep);
  return newest !== undefined && newest.seq > (lease?.aloneSince ?? 0);
}

function isAlone({ lease }: RunState): boolean {
  return lease?.aloneSince !== undefined;
}

/** Bodies that are known to have begun and not to have ended. Alone each one is known, and there is one at most. */
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
