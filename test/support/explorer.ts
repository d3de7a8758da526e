/**
 * A stateless model checker. Carries out every schedule of a small concurrent program: depth first over its choices,
 * each schedule from the start again, since running code cannot be copied. States that were met before are not
 * entered twice: two schedules that lead to equal states have equal futures.
 *
 * Must not: know what the program is; that, and what must hold of it, is the business of the `Execution`.
 */

export interface Choice {
  /** For the trail of a schedule that fails. */
  readonly label: string;
  /** Begins the move; the explorer waits until the program stands still again. */
  take(): void;
}

/** One run of the program under exploration. Must do the same whenever the same choices are taken. */
export interface Execution {
  /** Possible next actions in a fixed order; empty when the schedule has ended. */
  choices(): readonly Choice[];
  /** Equal for two states only if they have the same future and the same obligations. */
  key(): string;
  /** Throws if something is wrong in the present state. */
  check(): void;
  /** Throws if something is wrong after the last choice. */
  finish(): Promise<void>;
}

export interface Exploration {
  /** Different schedules, counted over the graph of states. */
  readonly schedules: bigint;
  /** Different states. */
  readonly states: number;
  /** Times the program was started. */
  readonly executions: number;
}

/** More choices than this in one schedule mean that the program goes round in circles. */
const MAX_DEPTH = 200;

interface Frame {
  readonly key: string;
  readonly choices: number;
  taken: number;
  schedules: bigint;
}

/** @throws Error with the trail of choices of the first schedule in which something was wrong */
export async function explore(begin: () => Promise<Execution>): Promise<Exploration> {
  const explored = new Map<string, bigint>();
  const path: Frame[] = [];
  let executions = 0;
  // Lost answers are errors by the ten thousand, and where each was made costs more than all that it causes.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    do {
      executions += 1;
      leaveBehind(path, await descend(await begin(), path, explored), explored);
    } while (path.length > 0);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  const schedules = [...explored.values()].at(-1) ?? 0n;
  return { schedules, states: explored.size, executions };
}

/** Goes along the path and on from its end to the end of a schedule; returns how many schedules lie beyond. */
async function descend(execution: Execution, path: Frame[], explored: Map<string, bigint>): Promise<bigint> {
  const trail: string[] = [];
  try {
    await standstill();
    for (const { taken } of path) await take(execution, taken, trail);
    for (;;) {
      const key = execution.key();
      const known = explored.get(key);
      if (known !== undefined) return known;
      execution.check();
      const choices = execution.choices().length;
      if (choices === 0) {
        await execution.finish();
        explored.set(key, 1n);
        return 1n;
      }
      if (path.length >= MAX_DEPTH) throw new Error('the schedule does not end');
      path.push({ key, choices, taken: 0, schedules: 0n });
      await take(execution, 0, trail);
    }
  } catch (error) {
    throw new Error(`after [${trail.join(' · ')}]: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

/** Moves on to the next choice of the deepest state that has one left. */
function leaveBehind(path: Frame[], beyond: bigint, explored: Map<string, bigint>): void {
  let schedules = beyond;
  for (let frame = path.at(-1); frame; frame = path.at(-1)) {
    frame.schedules += schedules;
    frame.taken += 1;
    if (frame.taken < frame.choices) return;
    schedules = frame.schedules;
    explored.set(frame.key, schedules);
    path.pop();
  }
}

async function take(execution: Execution, index: number, trail: string[]): Promise<void> {
  const choice = execution.choices()[index];
  if (!choice) throw new Error('the program did not do the same again');
  trail.push(choice.label);
  choice.take();
  await standstill();
}

/** All that promises can do is done before the next turn of the event loop. */
function standstill(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
