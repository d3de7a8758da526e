/** Outcomes of performances, and their differences. Pure. */
import type { Json } from '../../core/encoding/json.ts';
import type { RunStatus } from '../../core/run/status.ts';

export interface SweptRun {
  readonly type: string;
  readonly status: RunStatus;
  readonly code: string | undefined;
  /** Only a completed run has one. */
  readonly result: Json | undefined;
}

export interface SweepResult {
  /** Runs in the order of their start. */
  readonly runs: readonly SweptRun[];
  readonly actions: readonly string[];
  readonly bodyCalls: ReadonlyMap<string, number>;
  /** Message of the error that `perform` threw. */
  readonly thrown?: string | undefined;
}

/** One sentence for each difference from the undisturbed outcome. */
export function differencesOf(undisturbed: SweepResult, outcome: SweepResult): string[] {
  return [
    ...(outcome.thrown === undefined ? [] : [`the scenario did not end: ${outcome.thrown}`]),
    ...runDifferences(undisturbed.runs, outcome.runs),
    ...actionDifferences(countsOf(undisturbed.actions), countsOf(outcome.actions)),
  ];
}

/** Bodies that ran more often than undisturbed. */
export function repeatedBodies(undisturbed: SweepResult, outcome: SweepResult): string[] {
  return [...outcome.bodyCalls]
    .filter(([name, times]) => times > (undisturbed.bodyCalls.get(name) ?? 0))
    .map(([name]) => name);
}

function runDifferences(wanted: readonly SweptRun[], runs: readonly SweptRun[]): string[] {
  if (wanted.length !== runs.length) return [`${runs.length} runs instead of ${wanted.length}`];
  return runs.flatMap((run, i) => {
    const expected = describe(wanted[i] as SweptRun);
    const found = describe(run);
    return found === expected ? [] : [`run ${i + 1}: ${found} instead of ${expected}`];
  });
}

function describe({ type, status, code, result }: SweptRun): string {
  const end = `'${type}' ${status}`;
  if (code !== undefined) return `${end} (${code})`;
  return result === undefined ? end : `${end} with ${JSON.stringify(result)}`;
}

function actionDifferences(wanted: ReadonlyMap<string, number>, done: ReadonlyMap<string, number>): string[] {
  return [...new Set([...wanted.keys(), ...done.keys()])].flatMap((action) => {
    const [expected, found] = [wanted.get(action) ?? 0, done.get(action) ?? 0];
    return found === expected ? [] : [`done ${times(found)} instead of ${times(expected)}: ${action}`];
  });
}

function countsOf(actions: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const action of actions) counts.set(action, (counts.get(action) ?? 0) + 1);
  return counts;
}

function times(n: number): string {
  if (n === 0) return 'never';
  return n === 1 ? 'once' : `${n} times`;
}
