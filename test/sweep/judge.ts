/**
 * Judges a disturbed performance by the undisturbed one. Everything must end the same, except for an interrupted step that must
 * not run twice, which recovery handles.
 *
 * Must not: perform anything.
 */
import { stepIdOf } from '../../packages/cairn/src/core/run/state.ts';
import type { Outcome, RunOutcome, Story, Trace } from './outcome.ts';
import { outcomeOf } from './outcome.ts';
import type { Performance } from './performance.ts';
import { mustNotRunTwice, type Scenario } from './scenario.ts';

export type Verdict =
  | { readonly kind: 'recovered' }
  /**
   * `lost`: accepted work is missing. `different`: it ended, but with a wrong result. `duplicated`: a side effect took place
   * twice. `dropped`: a side effect of a completed step is missing.
   */
  | {
      readonly kind: 'lost' | 'stuck' | 'repeated' | 'different' | 'duplicated' | 'dropped';
      readonly why: string;
    };

/** Checks the performance without faults: throws unless it ends as the scenario declares. */
export function assertUndisturbed({ name, ends }: Scenario, performance: Performance): Outcome {
  if (performance.failure)
    throw new Error(`${name}, undisturbed: ${performance.failure.message}`, {
      cause: performance.failure,
    });
  const outcome = outcomeOf(performance);
  const main = performance.world.db.runs.get(performance.outside.runId);
  const found = main?.snapshot;
  if (found?.status !== ends.status || found.error?.code !== ends.errorCode) {
    throw new Error(`${name}, undisturbed: ${found?.status} ${found?.error?.code} ${found?.error?.message}`);
  }
  const runs = [...performance.world.db.runs.values()].map(({ snapshot }) => snapshot);
  const others = runs.filter(({ id }) => id !== found.id).map(({ type, status }) => `${type}: ${status}`);
  if (others.sort().join() !== (ends.others ?? []).join()) {
    throw new Error(`${name}, undisturbed: the other runs are ${others.join(', ')}`);
  }
  const { open } = performance.outside;
  if (open.length > 0) throw new Error(`${name}, undisturbed: nobody did ${open.join(', ')}`);
  const seen = new Set(
    [...performance.world.db.runs.values()].flatMap(({ events }) => events.map(({ type }) => type)),
  );
  const missing = ends.shows?.filter((type) => !seen.has(type)) ?? [];
  if (missing.length > 0) throw new Error(`${name}, undisturbed: no ${missing.join(', ')}`);
  if (performance.stage.repeated.length > 0) {
    throw new Error(`${name}, undisturbed: ran again: ${performance.stage.repeated.join(', ')}`);
  }
  return outcome;
}

export function verdictOn(scenario: Scenario, performance: Performance, expected: Outcome): Verdict {
  const { failure, stuck, stage, doubted } = performance;
  const [repeated] = stage.repeated;
  if (repeated !== undefined)
    return { kind: 'repeated', why: `a body of ${repeated} began after its success` };
  const [again] = startedAgainIn(performance, scenario, expected);
  if (again !== undefined && doubted.size === 0)
    return { kind: 'repeated', why: `the body of ${again} began again, and must not run twice` };
  const [duplicated] = duplicatesIn(performance, expected);
  if (duplicated !== undefined) return { kind: 'duplicated', why: `'${duplicated}' took place twice` };
  if (failure) return { kind: stuck ? 'stuck' : 'different', why: failure.message };
  const actual = outcomeOf(performance);
  if (actual.runs.length < expected.runs.length && doubted.size === 0) {
    return { kind: 'lost', why: `${actual.runs.length} runs, not ${expected.runs.length}` };
  }
  const [dropped] = droppedIn(performance, expected);
  if (dropped !== undefined && performance.doubted.size === 0)
    return { kind: 'dropped', why: `'${dropped}' never took place` };
  const endsOnly = scenario.effects || scenario.judgedByEnd;
  const why = endsOnly ? differenceOfEnds(expected.runs, actual.runs) : firstDifference(expected, actual);
  if (why === undefined) return { kind: 'recovered' };
  const instead = doubted.size > 0 ? prescribedDifference(performance, scenario) : why;
  return instead === undefined ? { kind: 'recovered' } : { kind: 'different', why: instead };
}

/** Bodies that must not run twice and began more often than in the undisturbed performance. The journal must prevent this. */
function startedAgainIn(performance: Performance, { workflows }: Scenario, { starts }: Outcome): string[] {
  const steps = workflows(performance.stage).map((workflow) => workflow.steps);
  const isOnceOnly = (stepId: string) => steps.some((all) => mustNotRunTwice(all.get(stepId)));
  return [...outcomeOf(performance).starts].flatMap(([key, times]) =>
    isOnceOnly(stepIdOf(key.split('@')[0] ?? '')) && times > (starts.get(key) ?? 0) ? [key] : [],
  );
}

/** Side effects that took place more often than in the undisturbed performance; those that it lacks may take place once. */
export function duplicatesIn({ receiver }: Performance, { actions }: Pick<Outcome, 'actions'>): string[] {
  const left = new Map<string, number>();
  for (const what of actions) left.set(what, (left.get(what) ?? 0) + 1);
  return receiver.applied.flatMap(({ what }) => {
    const more = (left.get(what) ?? 1) - 1;
    left.set(what, more);
    return more < 0 ? [what] : [];
  });
}

/** Side effects that took place less often than in the undisturbed performance. */
function droppedIn({ receiver }: Performance, { actions }: Outcome): string[] {
  const done = receiver.applied.map(({ what }) => what);
  return actions.filter((what) => {
    const at = done.indexOf(what);
    if (at >= 0) done.splice(at, 1);
    return at < 0;
  });
}

/** Compares only the ends of runs whose attempts, questions, answers or times depend on the failure. */
export function differenceOfEnds(
  expected: readonly RunOutcome[],
  actual: readonly RunOutcome[],
): string | undefined {
  const ends = (runs: readonly RunOutcome[]) =>
    runs.map(({ type, final }) => ({ type, final, story: {}, begun: {}, cutOff: {} }));
  return differenceOfRuns(ends(expected), ends(actual));
}

/** The run fails with RUN_ORPHANED or asks, unless a person had already requested another end. */
function prescribedDifference({ world, doubted }: Performance, { inDoubt }: Scenario): string | undefined {
  const { status: wanted, errorCode } = inDoubt ?? { status: 'failed', errorCode: 'RUN_ORPHANED' };
  for (const runId of doubted) {
    const { status, error, cancellation } = world.db.runs.get(runId)?.snapshot ?? {};
    if (status === 'cancelled' && cancellation) continue;
    if (status === wanted && error?.code === errorCode) continue;
    return `a step was in doubt, and its run is ${status} ${error?.code ?? ''}`;
  }
  return undefined;
}

function firstDifference(expected: Outcome, actual: Outcome): string | undefined {
  return (
    differenceOfRuns(expected.runs, actual.runs) ??
    memberDifference('the answer to', expected.answers, actual.answers) ??
    memberDifference('events that lie ready of', expected.early, actual.early)
  );
}

/** The first difference between runs. Both lists must be in order. */
export function differenceOfRuns(
  expected: readonly RunOutcome[],
  actual: readonly RunOutcome[],
): string | undefined {
  if (actual.length !== expected.length) return `${actual.length} runs, not ${expected.length}`;
  for (const [i, run] of expected.entries()) {
    const why = runDifference(run, actual[i] as RunOutcome);
    if (why !== undefined) return why;
  }
  return undefined;
}

function runDifference(expected: RunOutcome, actual: RunOutcome): string | undefined {
  if (actual.type !== expected.type) return `a run of ${actual.type}, not of ${expected.type}`;
  return (
    memberDifference(`${actual.type}: final`, expected.final, actual.final) ??
    memberDifference(`${actual.type}: journal of`, expected.story as Story, actual.story as Story) ??
    traceDifference(`${actual.type}: beginning`, expected.begun, actual.begun) ??
    traceDifference(`${actual.type}: cut off by its end`, expected.cutOff, actual.cutOff)
  );
}

/** Events that every dispatch records must be there. A dispatch alone may record more. */
function traceDifference(
  what: string,
  expected: Readonly<Record<string, Trace>>,
  actual: Readonly<Record<string, Trace>>,
): string | undefined {
  for (const name of Object.keys(expected)) if (!actual[name]) return `${what}: nothing tells of ${name}`;
  const surplus = Object.keys(actual).find((name) => actual[name] === 'usual' && !expected[name]);
  return surplus && `${what}: ${surplus}, which nothing tells of when it is undisturbed`;
}

function memberDifference(
  what: string,
  expected: Readonly<Record<string, unknown>>,
  actual: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const [wanted, found] = [JSON.stringify(expected[name]), JSON.stringify(actual[name])];
    if (wanted !== found) return `${what} ${name}\n  is     ${found}\n  not as ${wanted}`;
  }
  return undefined;
}
