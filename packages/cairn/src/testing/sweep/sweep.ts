/**
 * Crashes a user's workflow at each call that leaves its process, one crash per performance, and compares the outcome with that
 * of a performance without crashes. Everything is simulated and deterministic; only bodies that really wait take real time.
 */
import type { Json } from '../../core/encoding/json.ts';
import { isOver } from '../../core/run/state.ts';
import { TestRuntime } from '../test-runtime.ts';
import { CrashPlan, type CrashPoint, type Moment } from '../world/crash-plan.ts';
import { differencesOf, repeatedBodies, type SweepResult, type SweptRun } from './outcome.ts';
import type { SweepDifference, SweepOptions, SweepReport } from './scenario.ts';

const MOMENTS: readonly Moment[] = ['before', 'after'];
/** Maximum of calls of a performance, because it is repeated twice for each call. */
const MAX_CALLS = 10_000;

/** A scenario to be swept, by `sweep` or by `cairn sweep`. */
export interface Sweep {
  readonly kind: 'sweep';
  readonly name: string;
  /** Types of the workflows of the scenario. */
  types(): readonly string[];
  /**
   * @param onPoint called after each point with the number of finished points and the total
   * @throws Error if the undisturbed performance fails, does not end, or is not deterministic
   */
  run(onPoint?: (done: number, points: number) => void): Promise<SweepReport>;
}

/** Defines a scenario. `cairn sweep` finds it if a file exports it. */
export function defineSweep(options: SweepOptions): Sweep {
  return {
    kind: 'sweep',
    name: options.name,
    types: () => options.arrange().workflows.map(({ type }) => type),
    run: (onPoint) => sweep(options, onPoint),
  };
}

async function sweep(
  options: SweepOptions,
  onPoint: (done: number, points: number) => void = () => {},
): Promise<SweepReport> {
  const { name } = options;
  const { outcome: undisturbed, calls } = await performedAlone(options);
  const points = calls.flatMap((_, call) => MOMENTS.map((moment): CrashPoint => ({ call, moment })));
  const failures: SweepDifference[] = [];
  const repeated = new Map<string, number>();
  for (const [done, point] of points.entries()) {
    const { outcome } = await perform(options, new CrashPlan(point));
    const differences = differencesOf(undisturbed, outcome);
    if (differences.length > 0) failures.push({ ...point, label: calls[point.call] ?? '', differences });
    for (const body of repeatedBodies(undisturbed, outcome)) {
      repeated.set(body, (repeated.get(body) ?? 0) + 1);
    }
    onPoint(done + 1, points.length);
  }
  return {
    name,
    points: points.length,
    recovered: points.length - failures.length,
    failures,
    repeatedBodies: Object.fromEntries(repeated),
  };
}

interface PerformedScenario {
  readonly outcome: SweepResult;
  readonly calls: readonly string[];
}

/**
 * Performs the scenario twice without crashes. Both must make the same calls, because a call number is the address of a crash
 * point.
 */
async function performedAlone(options: SweepOptions): Promise<PerformedScenario> {
  const [first, second] = [await perform(options), await perform(options)];
  const { outcome, calls } = first;
  const where = `the sweep '${options.name}'`;
  if (outcome.thrown !== undefined) throw new Error(`${where} fails without any crash: ${outcome.thrown}`);
  const open = outcome.runs.find(({ status }) => !isOver({ status }));
  if (open)
    throw new Error(
      `${where} leaves a run of '${open.type}' ${open.status}: 'perform' must continue until all runs have ended`,
    );
  if (calls.length > MAX_CALLS)
    throw new Error(`${where} makes ${calls.length} calls; at most ${MAX_CALLS} are swept: make it smaller`);
  if (calls.join() !== second.calls.join() || differencesOf(outcome, second.outcome).length > 0)
    throw new Error(
      `${where} is not the same twice: 'arrange' must return fresh stand-ins, and bodies must not depend on time or chance`,
    );
  return first;
}

async function perform({ arrange }: SweepOptions, plan = new CrashPlan()): Promise<PerformedScenario> {
  const { perform: act, actions, ...options } = arrange();
  const runtime = new TestRuntime(options, plan);
  let thrown: string | undefined;
  try {
    await act(runtime);
  } catch (error) {
    [thrown] = String((error as Error)?.message ?? error).split('\n');
  }
  const runs = await Promise.all(runtime.runs().map((run) => outcomeOf(run)));
  return {
    outcome: { runs, actions: [...actions()], bodyCalls: runtime.bodyCalls(), thrown },
    calls: plan.made,
  };
}

async function outcomeOf(run: ReturnType<TestRuntime['run']>): Promise<SweptRun> {
  const { type, status, error } = run.state();
  const result = status === 'completed' ? ((await run.result()) as Json) : undefined;
  return { type, status, code: error?.code, result };
}
