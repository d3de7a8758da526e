/**
 * A stateless model checker. Executes every schedule of a small concurrent program, depth first over its choices. Each
 * schedule begins from the start, because running code cannot be copied. A known state is not explored again, because
 * equal states have equal futures.
 *
 * Must not: know the program or its invariants, which the `Execution` has.
 */

export interface Choice {
  /** Shown in the trail of a failing schedule. */
  readonly label: string;
  /** Begins the action; the explorer waits until the program is idle again. */
  take(): void;
}

/** One execution of the explored program. Must be deterministic for the same choices. */
export interface Execution {
  /** Possible next actions in a fixed order; empty at the end of the schedule. */
  choices(): readonly Choice[];
  /** Key of the state. Equal keys require the same future and the same obligations. */
  key(): string;
  /** Throws if the current state violates an invariant. */
  check(): void;
  /** Throws if the final state violates an invariant. */
  finish(): Promise<void>;
}

export interface Exploration {
  /** Number of different schedules, computed from the graph of states. */
  readonly schedules: bigint;
  /** Number of different states. */
  readonly states: number;
  /** Number of executions of the program. */
  readonly executions: number;
}

/** A schedule with more choices is an endless loop. */
const MAX_DEPTH = 200;

interface Frame {
  readonly key: string;
  readonly choices: number;
  taken: number;
  schedules: bigint;
}

/** @throws Error with the choices of the first failing schedule */
export async function explore(begin: () => Promise<Execution>): Promise<Exploration> {
  const explored = new Map<string, bigint>();
  const path: Frame[] = [];
  let executions = 0;
  // Lost answers create tens of thousands of errors, whose stack traces would cost more than everything else.
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

/** Follows the path and continues to the end of a schedule; returns the number of schedules beyond the path. */
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

/** Continues with the next choice of the deepest state that has one. */
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

/** Resolves in the next turn of the event loop, after all pending promises have settled. */
function standstill(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
